import type { Knex } from 'knex';

/**
 * Writes the traces of many changes at once (bulk creation, a subtree that moves), lists siblings in order without a sort, and reports what
 * changed since a stale read.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(recordChanges);
  await knex.raw(/* sql */ `
drop index tasks_of_parent;
create index tasks_of_parent on tasks (parent_task_id, position nulls last, created_at, task_id) where parent_task_id is not null;

-- Updates of a task, newest first; other actions are not indexed, so creating a task costs nothing extra.
create index audit_of_task_updates on audit_entries (entity_id, timestamp) where entity_type = 'task' and action = 'update';
`);
}

/**
 * The single writer of a change's traces, for any number of changes: rows are written table by table, at a fifth of the cost of one call
 * per change. `who` is the caller as jsonb (from api/core/context.ts); each change names the entity and what happened. `make_change` builds
 * one and leaves defaults to the writer. A row type, because jsonb would write and look up every name for each change. The request's first
 * entry uses the request's id as `audit_id`, so a caller finds it by the X-Correlation-ID. Returns the first entry's id; without changes,
 * null. `enqueue_events` and `mark_changes`, which later migrations create, write the outbox rows and the marks of the search index; their
 * names are looked up when the function runs. `record_change` does the same for one change as JSON (api/core/record-change.ts).
 */
const recordChanges = /* sql */ `
create type change as (team_id uuid, project_id uuid, feature text, action text, severity text, outcome text, entity_type text,
  entity_id text, title text, summary text, details jsonb, event_type text, event_id uuid, payload jsonb);

-- The planner inlines the row.
create function make_change(team_id uuid, feature text, action text, entity_type text, entity_id text, project_id uuid default null,
  title text default null, summary text default null, details jsonb default null, event_type text default null,
  payload jsonb default null, event_id uuid default null, severity text default null, outcome text default null)
returns change language sql as $$
  select row(team_id, project_id, feature, action, severity, outcome, entity_type, entity_id, title, summary, details, event_type,
    event_id, payload)::change
$$;

create function record_changes(who jsonb, changes change[]) returns uuid language plpgsql strict set plan_cache_mode = force_generic_plan as $$
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
  insert into activity (user_id, actor_type, action, entity_type, entity_id, entity_title, team_id, project_id, summary)
    select person, case who->>'actor_type' when 'pat' then 'user' else who->>'actor_type' end,
      c.action, c.entity_type, c.entity_id, c.title, c.team_id, c.project_id, c.summary
    from unnest(changes) as c where c.summary is not null;
  if cardinality(changes) > 1 or changes[1].entity_type in ('task', 'comment', 'project', 'note', 'file', 'whiteboard', 'doc') then
    perform mark_changes(changes);
  end if;
  if cardinality(changes) > 1 or changes[1].event_type is not null then perform enqueue_events(who, changes); end if;
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
