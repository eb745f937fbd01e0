import type { Knex } from 'knex';

/**
 * Many changes leave their traces in one go (bulk creation, a subtree that moves), siblings come in order without a sort, and a
 * stale write is told what changed since.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(recordChanges);
  await knex.raw(/* sql */ `
drop index tasks_of_parent;
create index tasks_of_parent on tasks (parent_task_id, position nulls last, created_at, task_id) where parent_task_id is not null;

-- Who changed what of a task, newest first; only updates are kept here, so creating a task pays nothing for it.
create index audit_of_task_updates on audit_entries (entity_id, timestamp) where entity_type = 'task' and action = 'update';
`);
}

/**
 * The one writer of what changes leave behind, for any number of them: rows are written table by table, which costs a fifth of
 * one call a change. `who` is the caller as jsonb (api/core/context.ts makes it), each change names the entity and what happened;
 * `make_change` makes one, with what it does not say left to the writer. A row and not jsonb, in which every name is written and
 * looked up again for each change. The request's first entry takes the request's id as `audit_id` (J1), so a caller finds the entry
 * by the X-Correlation-ID it was given. Returns the first entry's id; no changes, nothing. `record_change` is the same for one that
 * comes as JSON (api/core/record-change.ts).
 */
const recordChanges = /* sql */ `
create type change as (team_id uuid, project_id uuid, feature text, action text, severity text, outcome text, entity_type text,
  entity_id text, title text, summary text, details jsonb, event_type text, event_id uuid, payload jsonb);

-- The planner puts the row itself in its place.
create function make_change(team_id uuid, feature text, action text, entity_type text, entity_id text, project_id uuid default null,
  title text default null, summary text default null, details jsonb default null, event_type text default null,
  payload jsonb default null, event_id uuid default null, severity text default null, outcome text default null)
returns change language sql as $$
  select row(team_id, project_id, feature, action, severity, outcome, entity_type, entity_id, title, summary, details, event_type,
    event_id, payload)::change
$$;

create function record_changes(who jsonb, changes change[]) returns uuid language plpgsql strict as $$
declare
  ids uuid[] := array[(who->>'request_id')::uuid];
  correlation uuid := (who->>'correlation_id')::uuid;
  person uuid := (who->>'user_id')::uuid;
  caused_by jsonb := case when who->>'run_id' is null then '{}' else jsonb_build_object('caused_by', who->'caused_by') end;
  stamp text := to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US');
  written integer := 0;
  added integer;
begin
  if cardinality(changes) = 0 then return null; end if;
  -- One is the usual number, and then this query would be a quarter of the work.
  if cardinality(changes) > 1 then ids := ids || array(select uuidv7() from generate_series(2, cardinality(changes))); end if;
  loop
    insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, user_email, actor_type, impersonator_id,
        token_id, ip_address, user_agent, feature, action, severity, outcome, entity_type, entity_id, details)
      select c.id, correlation, stamp, c.team_id, person, who->>'email', who->>'actor_type',
        (who->>'impersonator_id')::uuid, (who->>'token_id')::uuid, who->>'ip', who->>'user_agent',
        c.feature, c.action, coalesce(c.severity, 'LOW'), coalesce(c.outcome, 'success'),
        c.entity_type, c.entity_id, (coalesce(c.details, '{}') || caused_by)::text
      from unnest(ids, changes) as c(id)
      on conflict (audit_id) do nothing;
    get diagnostics added = row_count;
    written := written + added;
    exit when written = cardinality(changes);
    -- Only the request's own id can be taken: an earlier change of the request has it.
    ids[1] := uuidv7();
  end loop;
  insert into audit_pending (audit_id, chain)
    select c.id, coalesce(c.team_id, '00000000-0000-0000-0000-000000000000') from unnest(ids, changes) as c(id);
  insert into activity (user_id, actor_type, action, entity_type, entity_id, entity_title, team_id, project_id, summary)
    select person, case who->>'actor_type' when 'pat' then 'user' else who->>'actor_type' end,
      c.action, c.entity_type, c.entity_id, c.title, c.team_id, c.project_id, c.summary
    from unnest(changes) as c where c.summary is not null;
  insert into outbox (kind, subject, event_id, team_id, project_id, payload, correlation_id, depth, caused_by_run)
    select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id,
      jsonb_build_object('actor_id', who->>'user_id') || coalesce(c.payload, '{}'), correlation,
      coalesce((who->>'depth')::int, 0), (who->>'run_id')::uuid
    from unnest(changes) as c where c.event_type is not null;
  return ids[1];
end $$;

create function record_change(who jsonb, change jsonb) returns uuid language sql as $$
  select record_changes(who, array[make_change(team_id => (change->>'team_id')::uuid, project_id => (change->>'project_id')::uuid,
    feature => change->>'feature', action => change->>'action', severity => change->>'severity', outcome => change->>'outcome',
    entity_type => change->>'entity_type', entity_id => change->>'entity_id', title => change->>'title',
    summary => change->>'summary', details => change->'details', event_type => change->'event'->>'type',
    event_id => (change->'event'->>'event_id')::uuid, payload => change->'event'->'payload')])
$$;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
