import type { Knex } from 'knex';

/**
 * A line of activity refers to the audit entry of its change, which holds what caused the change and what it changed. Null in lines of older
 * versions of the service. `record_changes` is that of migration 0003, with the id.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table activity add column audit_id uuid');
  await knex.raw(recordChanges);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}

const recordChanges = /* sql */ `
create or replace function record_changes(who jsonb, changes change[]) returns uuid language plpgsql strict set plan_cache_mode = force_generic_plan as $$
declare
  ids uuid[] := array[(who->>'request_id')::uuid];
  correlation uuid := (who->>'correlation_id')::uuid;
  person uuid := (who->>'user_id')::uuid;
  caused_by jsonb := case when who->'caused_by' is null then '{}' else jsonb_build_object('caused_by', who->'caused_by') end;
  stamp text := to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US');
  written integer := 0;
  added integer;
begin
  if cardinality(changes) = 0 then return null; end if;
  -- One change is the common case, where this query would be a quarter of the work.
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
    -- Only the request's own id can collide: an earlier change of the request has it.
    ids[1] := uuidv7();
  end loop;
  insert into audit_pending (audit_id, chain)
    select c.id, coalesce(c.team_id, '00000000-0000-0000-0000-000000000000') from unnest(ids, changes) as c(id);
  insert into activity (user_id, actor_type, action, entity_type, entity_id, entity_title, team_id, project_id, summary, audit_id)
    select person, case who->>'actor_type' when 'pat' then 'user' else who->>'actor_type' end,
      c.action, c.entity_type, c.entity_id, c.title, c.team_id, c.project_id, c.summary, c.id
    from unnest(ids, changes) as c(id) where c.summary is not null;
  if cardinality(changes) > 1 or changes[1].entity_type in ('task', 'comment', 'project', 'note', 'file', 'whiteboard', 'doc') then
    perform mark_changes(changes);
  end if;
  if cardinality(changes) > 1 or changes[1].event_type is not null then perform enqueue_events(who, changes); end if;
  return ids[1];
end $$;
`;
