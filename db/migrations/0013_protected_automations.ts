import type { Knex } from 'knex';

/** Protected automations, the authors of a version's actions, and no enabled automation of a user without write access. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Belongs to the automation, not to a version: a rollback never removes the protection.
alter table automations add column is_protected boolean not null default false;

-- Authors of the actions that this version only repeats (a rename, a rollback, a change of owner), besides changed_by.
alter table automation_versions add column co_authors uuid[] not null default '{}';

-- Includes disabled ones: removing a user locks all their automations, so that none is enabled concurrently.
drop index automations_of_person;
create index automations_of_person on automations (created_by) where deleted_at is null;
`);
  await knex.raw(/* sql */ `
update automations set disabled_reason = 'creator_left' where disabled_reason = 'creator_deprovisioned';

with gone as (
  update automations a set is_active = false, disabled_reason = 'creator_left' from users u
  where u.user_id = a.created_by and a.is_active and a.deleted_at is null and not (u.status = 'active' and (a.team_id is null
    or exists (select from memberships m where m.team_id = a.team_id and m.user_id = a.created_by and m.role <> 'guest')))
  returning a.*
)
select record_changes(jsonb_build_object('request_id', uuidv7(), 'correlation_id', uuidv7(), 'actor_type', 'system'),
  array_agg(make_change(team_id => team_id, project_id => project_id, feature => 'automations', action => 'toggle', severity => 'MEDIUM',
    entity_type => 'automation', entity_id => automation_id::text, title => name,
    summary => 'disabled the automation: its creator may no longer act',
    details => jsonb_build_object('is_active', false, 'disabled_reason', disabled_reason, 'creator_id', created_by))))
from gone;

-- Deletes invalid approvals at open gates: those by an author of the version that the run follows.
delete from gate_approvals p using gates g, automation_runs r, automation_versions v
where g.run_id = p.run_id and g.gate_index = p.gate_index and r.run_id = p.run_id
  and v.automation_id = r.automation_id and v.version = r.automation_version
  and not g.allow_self_approval and g.decision is null and r.finished_at is null and p.user_id = v.changed_by;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
