-- Events: who subscribes to them, the outbox, and the one function that writes the traces of a change. Events are written only for teams and
-- users with a subscriber; rows that keep failing are parked.

-- Every event type, with the automation triggers that it may match. The migrate step writes the rows. A row of the outbox
-- of a type ".cascade_" holds a page of tasks and starts no automation: ten thousand runs of one deletion help nobody.
create table event_types (event_type text primary key, triggers text[] not null);

-- Event types that a team, or a user with personal automations, subscribes to: one row per owner and subscriber kind. Writers read it
-- without a lock. Only the trigger on the kind's own table writes it.
create table event_subscriptions (
  owner_id uuid not null,
  kind text not null,
  event_types text[] not null default '{}',
  primary key (owner_id, kind)
);

-- A queue: inserted with the change that causes it; the relay claims, acts and deletes. For autovacuum dead rows count, not their share.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  kind text not null,
  subject text not null,
  event_id uuid not null default uuidv7(),
  team_id uuid,
  project_id uuid,
  payload jsonb not null default '{}',
  correlation_id uuid not null,
  depth integer not null default 0,
  caused_by_run uuid,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  created_at timestamptz not null default now(),
  actor_id uuid,
  project_ids uuid[],
  -- The last subscriber that was matched with an event, as kind:id.
  matched_up_to text,
  -- Failures of the row itself; "attempts" counts every attempt, for the backoff.
  failures integer not null default 0,
  -- A parked row is due at infinity, so no poll reads it.
  parked_at timestamptz,
  -- Users behind the cause of an event or run, besides the actor: those who started the runs before it, or wrote their actions. Stored with
  -- the row, because earlier runs are deleted after a while.
  cause_user_ids uuid[] not null default '{}'
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index outbox_work on outbox (kind, next_attempt_at, outbox_id) where kind <> 'event';
create index outbox_events on outbox (coalesce(team_id, actor_id, '00000000-0000-0000-0000-000000000000'), next_attempt_at, outbox_id)
  where kind = 'event' and parked_at is null;
create index outbox_starts on outbox (coalesce(team_id, actor_id, '00000000-0000-0000-0000-000000000000'), next_attempt_at, outbox_id)
  where kind = 'run.start';
create index outbox_parked on outbox (parked_at) where parked_at is not null;

-- Delay before the next attempt: exponential, at most a minute.
create function outbox_backoff(attempts integer) returns interval language sql immutable as $$
  select make_interval(secs => least(60, power(2, least(attempts, 6))))
$$;

-- A row type, because jsonb would write and look up every name for each change.
create type change as (team_id uuid, project_id uuid, feature text, action text, severity text, outcome text, entity_type text,
  entity_id text, title text, summary text, details jsonb, event_type text, event_id uuid, payload jsonb);

-- Builds a change and leaves defaults to the writer. The planner inlines the row.
create function make_change(team_id uuid, feature text, action text, entity_type text, entity_id text, project_id uuid default null,
  title text default null, summary text default null, details jsonb default null, event_type text default null,
  payload jsonb default null, event_id uuid default null, severity text default null, outcome text default null)
returns change language sql as $$
  select row(team_id, project_id, feature, action, severity, outcome, entity_type, entity_id, title, summary, details, event_type,
    event_id, payload)::change
$$;

-- Users behind a caller's action, besides the caller: those of the acting run, those who moved the acting series, the impersonating
-- administrator.
create function people_behind(who jsonb) returns uuid[] language plpgsql stable as $$
declare
  people uuid[] := '{}';
begin
  if who->>'run_id' is not null then people := people_of_run((who->>'run_id')::uuid); end if;
  if who->'cause_user_ids' is not null then
    people := people || array(select jsonb_array_elements_text(who->'cause_user_ids')::uuid);
  end if;
  if who->>'impersonator_id' is not null then people := people || (who->>'impersonator_id')::uuid; end if;
  return people;
end $$;

-- A caller and the users behind them.
create function people_of_caller(who jsonb) returns uuid[] language plpgsql stable as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  behind uuid[] := people_behind(who);
begin
  if actor is not null and behind = '{}' then return array[actor]; end if;
  return add_people(behind, array[actor]);
end $$;

-- The single writer of events: one row for each change whose team or actor has a subscriber to its type. A plain read: a subscriber enabled
-- concurrently receives what is written after its commit. The common call has one change without subscribers that moves no series: one query
-- suffices. Returns the number of rows. PostgreSQL overestimates the rows of an unknown array, considers a custom plan cheaper, and creates one
-- per call, which costs ten times as much as running it: hence the generic plan.
create or replace function enqueue_events(who jsonb, changes change[]) returns integer language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  subscribed boolean;
  moves boolean;
  unknown text;
  behind uuid[];
  written integer := 0;
  moved jsonb;
begin
  select bool_or(exists (select from event_subscriptions s where s.owner_id in (c.team_id, actor) and c.event_type = any(s.event_types))),
      bool_or(c.payload->'task'->>'series_id' is not null),
      min(c.event_type) filter (where not exists (select from event_types e where e.event_type = c.event_type))
    into subscribed, moves, unknown
    from unnest(changes) as c where c.event_type is not null;
  if unknown is not null then raise exception 'There is no event type %', unknown using errcode = '22023'; end if;
  if not (subscribed or moves) then return 0; end if;

  behind := people_behind(who);
  if subscribed then
    insert into outbox (kind, subject, event_id, team_id, project_id, actor_id, project_ids, payload, correlation_id, depth,
        caused_by_run, cause_user_ids)
      select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id, actor,
        case when c.payload->'project_ids' is not null then array(select jsonb_array_elements_text(c.payload->'project_ids')::uuid) end,
        jsonb_build_object('actor_id', who->>'user_id') || coalesce(c.payload, '{}'), (who->>'correlation_id')::uuid,
        coalesce((who->>'depth')::int, 0), (who->>'run_id')::uuid, behind
      from unnest(changes) as c where c.event_type is not null and exists (
        select from event_subscriptions s where s.owner_id in (c.team_id, actor) and c.event_type = any(s.event_types));
    get diagnostics written = row_count;
  end if;
  -- Records who moved a recurring task: sync_series runs at the commit, when the caller is no longer known.
  if moves then
    select jsonb_object_agg(c.payload->'task'->>'task_id', jsonb_build_object('actor_id', who->>'user_id',
        'correlation_id', who->>'correlation_id', 'depth', who->'depth', 'run_id', who->>'run_id',
        'user_ids', array_append(behind, actor))) into moved
      from unnest(changes) as c where c.event_type is not null and c.payload->'task'->>'series_id' is not null;
    perform set_config('assent.series_causes',
      (coalesce(nullif(current_setting('assent.series_causes', true), ''), '{}')::jsonb || moved)::text, true);
  end if;
  return written;
end $$;

-- Called by record_changes: one insert for all changes. An update without a change of what is searched leaves no mark.
create function mark_changes(changes change[]) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  insert into search_dirty (team_id, item_id)
    select c.team_id, case c.entity_type when 'comment' then c.details->>'task_id' else c.entity_id end
    from unnest(changes) as c
    where c.team_id is not null and c.entity_type in ('task', 'comment', 'project', 'note', 'file', 'whiteboard', 'doc')
      and (c.entity_type = 'comment' or c.action <> 'update'
        or coalesce(jsonb_exists_any(c.details->'changes', '{title,name,description,tags,content}'), true));
end $$;

-- The single writer of a change's traces, for any number of changes: rows are written table by table, at a fifth of the cost of one call per
-- change. "who" is the caller as jsonb; each change names the entity and what happened. The request's first entry
-- uses the request's id as "audit_id", so a caller finds it by the X-Correlation-ID. Returns the first entry's id; without changes, null.
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

-- The same for one change as JSON.
create function record_change(who jsonb, change jsonb) returns uuid language sql as $$
  select record_changes(who, array[make_change(team_id => (change->>'team_id')::uuid, project_id => (change->>'project_id')::uuid,
    feature => change->>'feature', action => change->>'action', severity => change->>'severity', outcome => change->>'outcome',
    entity_type => change->>'entity_type', entity_id => change->>'entity_id', title => change->>'title',
    summary => change->>'summary', details => change->'details', event_type => change->'event'->>'type',
    event_id => (change->'event'->>'event_id')::uuid, payload => change->'event'->'payload')])
$$;
