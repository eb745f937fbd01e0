-- Changes as clients follow them: one lean row for each, written in the transaction of the change, with that transaction's id. A reader is given
-- rows whose transaction is older than every one that still runs, in the order of (xid, change_id): what commits later never comes before what was
-- given. Rows name things and hold nothing of their contents; whether a caller may know of one is judged when it is read.
create table live_changes (
  change_id uuid not null default uuidv7(),
  xid xid8 not null default pg_current_xact_id(),
  -- The team whose members may read it; else the one user.
  owner_id uuid not null,
  team_id uuid,
  project_id uuid,
  event_type text,
  entity_type text not null,
  action text not null,
  entity_id text,
  -- The task of a comment, the automation of a run, the session of a plan.
  parent_id text,
  actor_id uuid,
  actor_type text,
  correlation_id uuid,
  primary key (owner_id, xid, change_id)
) partition by range (change_id);
select register_partitions('live_changes', 'day', ahead => 3, keep => 31);

-- The database cluster that counted the transaction ids of live_changes. One row.
create table live_cluster (only_one boolean primary key default true check (only_one), system_identifier bigint not null);

-- Called by each migration. In a cluster restored from a dump transaction ids begin anew, so the rows of another cluster have no place in the order.
create function start_live_changes() returns boolean language plpgsql as $$
declare
  present bigint := (select system_identifier from pg_control_system());
  moved boolean;
begin
  select c.system_identifier <> present into moved from live_cluster c;
  if moved is null then insert into live_cluster (system_identifier) values (present);
  elsif moved then
    truncate live_changes;
    update live_cluster set system_identifier = present;
  end if;
  return coalesce(moved, false);
end $$;

revoke execute on function start_live_changes from public;

-- Names the history of the database: a restore, and a promotion of a standby, which may have lost commits, begin another one. No place in the order
-- of one history says anything about another.
create function live_history() returns text language sql stable as $$
  select to_hex(system_identifier) || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) from pg_control_system()
$$;

-- Writes the events of changes that have a subscriber, each by the caller at its place.
create function enqueue_events_of(callers jsonb[], changes change[]) returns integer language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  subscribed boolean;
  moves boolean;
  unknown text;
  written integer := 0;
  moved jsonb;
begin
  select bool_or(exists (select from event_subscriptions s
        where s.owner_id in (c.team_id, (c.who->>'user_id')::uuid) and c.event_type = any(s.event_types))),
      bool_or(c.payload->'task'->>'series_id' is not null),
      min(c.event_type) filter (where not exists (select from event_types e where e.event_type = c.event_type))
    into subscribed, moves, unknown
    from unnest(callers, changes) as c(who) where c.event_type is not null;
  if unknown is not null then raise exception 'There is no event type %', unknown using errcode = '22023'; end if;
  if not (subscribed or moves) then return 0; end if;

  if subscribed then
    with behind as materialized (select d.who, people_behind(d.who) as people from (select distinct who from unnest(callers) as who) d)
    insert into outbox (kind, subject, event_id, team_id, project_id, actor_id, project_ids, payload, correlation_id, depth,
        caused_by_run, cause_user_ids)
      select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id, (c.who->>'user_id')::uuid,
        case when c.payload->'project_ids' is not null then array(select jsonb_array_elements_text(c.payload->'project_ids')::uuid) end,
        jsonb_build_object('actor_id', c.who->>'user_id') || coalesce(c.payload, '{}'), (c.who->>'correlation_id')::uuid,
        coalesce((c.who->>'depth')::int, 0), (c.who->>'run_id')::uuid, b.people
      from unnest(callers, changes) with ordinality as c(who) join behind b on b.who = c.who
      where c.event_type is not null and exists (select from event_subscriptions s
        where s.owner_id in (c.team_id, (c.who->>'user_id')::uuid) and c.event_type = any(s.event_types))
      order by c.ordinality;
    get diagnostics written = row_count;
  end if;
  -- Records who moved a recurring task: sync_series runs at the commit, when the caller is no longer known.
  if moves then
    select jsonb_object_agg(c.payload->'task'->>'task_id', jsonb_build_object('actor_id', c.who->>'user_id',
        'correlation_id', c.who->>'correlation_id', 'depth', c.who->'depth', 'run_id', c.who->>'run_id',
        'user_ids', people_behind(c.who) || (c.who->>'user_id')::uuid)) into moved
      from unnest(callers, changes) as c(who) where c.event_type is not null and c.payload->'task'->>'series_id' is not null;
    perform set_config('assent.series_causes',
      (coalesce(nullif(current_setting('assent.series_causes', true), ''), '{}')::jsonb || moved)::text, true);
  end if;
  return written;
end $$;

-- The same for changes of one caller.
create or replace function enqueue_events(who jsonb, changes change[]) returns integer language sql as $$
  select enqueue_events_of(array_fill(who, array[cardinality(changes)]), changes)
$$;

-- Writes the traces of changes, each by the caller at its place, so that requests that share a statement share its cost. The first entry of each
-- request has the request's id. Returns the ids of the entries.
create function record_changes_of(callers jsonb[], changes change[]) returns uuid[]
language plpgsql strict set plan_cache_mode = force_generic_plan as $$
declare
  ids uuid[] := array[(callers[1]->>'request_id')::uuid];
  stamp text := to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US');
  added uuid[];
  done uuid[] := '{}';
begin
  if cardinality(changes) = 0 then return '{}'; end if;
  -- One change is the common case, where this query would be a quarter of the work.
  if cardinality(changes) > 1 then
    ids := array(select case when row_number() over (partition by w.who->>'request_id' order by w.place) = 1
        then (w.who->>'request_id')::uuid else uuidv7() end from unnest(callers) with ordinality as w(who, place) order by w.place);
  end if;
  loop
    with written as (
      insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, user_email, actor_type, impersonator_id,
          token_id, ip_address, user_agent, feature, action, severity, outcome, entity_type, entity_id, details)
        select c.id, (c.who->>'correlation_id')::uuid, stamp, c.team_id, (c.who->>'user_id')::uuid, c.who->>'email', c.who->>'actor_type',
          (c.who->>'impersonator_id')::uuid, (c.who->>'token_id')::uuid, c.who->>'ip', c.who->>'user_agent',
          c.feature, c.action, coalesce(c.severity, 'LOW'), coalesce(c.outcome, 'success'), c.entity_type, c.entity_id,
          (coalesce(c.details, '{}') || case when c.who->'caused_by' is null then '{}'
            else jsonb_build_object('caused_by', c.who->'caused_by') end)::text
        from unnest(ids, callers, changes) as c(id, who) where c.id <> all(done)
        on conflict (audit_id) do nothing returning audit_id
    )
    select coalesce(array_agg(w.audit_id), '{}') into added from written w;
    done := done || added;
    exit when cardinality(done) = cardinality(changes);
    -- Only a request's own id can collide: an earlier change of the request has it.
    ids := array(select case when x.id = any(done) then x.id else uuidv7() end from unnest(ids) with ordinality as x(id, place) order by x.place);
  end loop;

  with given as materialized (
    select c.*, (c.who->>'user_id')::uuid as person from unnest(ids, callers, changes) as c(id, who)
  ), pending as (
    insert into audit_pending (audit_id, chain) select c.id, coalesce(c.team_id, '00000000-0000-0000-0000-000000000000') from given c
  ), lines as (
    insert into activity (user_id, actor_type, action, entity_type, entity_id, entity_title, team_id, project_id, summary, audit_id)
      select c.person, case c.who->>'actor_type' when 'pat' then 'user' else c.who->>'actor_type' end,
        c.action, c.entity_type, c.entity_id, c.title, c.team_id, c.project_id, c.summary, c.id
      from given c where c.summary is not null
  ), marks as (
    -- An update without a change of what is searched leaves no mark.
    insert into search_dirty (team_id, item_id)
      select c.team_id, case c.entity_type when 'comment' then c.details->>'task_id' else c.entity_id end from given c
      where c.team_id is not null and c.entity_type in ('task', 'comment', 'project', 'note', 'file', 'whiteboard', 'doc')
        and (c.entity_type = 'comment' or c.action <> 'update'
          or coalesce(jsonb_exists_any(c.details->'changes', '{title,name,description,tags,content}'), true))
  )
  insert into live_changes (owner_id, team_id, project_id, event_type, entity_type, action, entity_id, parent_id, actor_id, actor_type, correlation_id)
    select coalesce(c.team_id, c.person), c.team_id, c.project_id, c.event_type, c.entity_type, c.action, c.entity_id,
      case c.entity_type when 'comment' then c.details->>'task_id' end, c.person, c.who->>'actor_type', (c.who->>'correlation_id')::uuid
    from given c
    where coalesce(c.team_id, c.person) is not null and coalesce(c.outcome, 'success') = 'success'
      and c.action not in ('read', 'export', 'download')
      and c.entity_type <> 'agent_plan' and (c.entity_type <> 'automation_run' or c.feature = 'approvals');
  if cardinality(changes) > 1 or changes[1].event_type is not null then perform enqueue_events_of(callers, changes); end if;
  return ids;
end $$;

drop function mark_changes(change[]);

-- The same for changes of one caller. Returns the id of the first entry; without changes, null.
create or replace function record_changes(who jsonb, changes change[]) returns uuid language sql strict as $$
  select (record_changes_of(array_fill(who, array[cardinality(changes)]), changes))[1]
$$;

-- The states of runs and plans change by many statements, with and without an entry of the audit log. These triggers see all of them.
create function record_live_run() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, project_id, entity_type, action, entity_id, parent_id, correlation_id)
    values (coalesce(new.team_id, new.creator_id), new.team_id, new.project_id, 'automation_run', new.status, new.run_id, new.automation_id,
      new.correlation_id);
  return null;
end $$;
create trigger run_made_live after insert on automation_runs for each row execute function record_live_run();
create trigger run_changed_live after update of status on automation_runs for each row
  when (old.status <> new.status) execute function record_live_run();

create function record_live_plan() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, project_id, entity_type, action, entity_id, parent_id, actor_id, correlation_id)
    values (coalesce(new.team_id, new.owner_id), new.team_id, new.project_id, 'agent_plan', new.status, new.action_id, new.session_id,
      new.decided_by, new.correlation_id);
  return null;
end $$;
create trigger plan_made_live after insert on agent_plans for each row execute function record_live_plan();
create trigger plan_changed_live after update of status on agent_plans for each row
  when (old.status <> new.status) execute function record_live_plan();

-- A user's own notifications, and their own memberships, which also make their open streams read their teams again.
create function record_live_notifications() returns trigger language plpgsql as $$
begin
  -- One row a user: a user may read hundreds at once.
  insert into live_changes (owner_id, entity_type, action, entity_id)
    select n.user_id, 'notification', case tg_op when 'INSERT' then 'create' else 'update' end,
      case when count(*) = 1 then min(n.notification_id::text) end
    from written n group by n.user_id;
  return null;
end $$;
create trigger notifications_made_live after insert on notifications referencing new table as written
  for each statement execute function record_live_notifications();
create trigger notifications_read_live after update on notifications referencing new table as written
  for each statement execute function record_live_notifications();

create function record_live_membership() returns trigger language plpgsql as $$
declare
  member memberships := case tg_op when 'DELETE' then old else new end;
begin
  insert into live_changes (owner_id, team_id, entity_type, action, entity_id)
    values (member.user_id, member.team_id, 'membership', case tg_op when 'INSERT' then 'create' when 'DELETE' then 'delete' else 'update' end,
      member.team_id);
  return null;
end $$;
create trigger membership_live after insert or delete on memberships for each row execute function record_live_membership();
create trigger membership_role_live after update of role on memberships for each row
  when (old.role <> new.role) execute function record_live_membership();
