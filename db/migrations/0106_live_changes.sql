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

-- Writes the traces of changes, as before, and now their rows of live_changes.
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
  insert into live_changes (owner_id, team_id, project_id, event_type, entity_type, action, entity_id, parent_id, actor_id, actor_type, correlation_id)
    select coalesce(c.team_id, person), c.team_id, c.project_id, c.event_type, c.entity_type, c.action, c.entity_id,
      case c.entity_type when 'comment' then c.details->>'task_id' end, person, who->>'actor_type', correlation
    from unnest(changes) as c
    where coalesce(c.team_id, person) is not null and coalesce(c.outcome, 'success') = 'success' and c.action not in ('read', 'export', 'download')
      and c.entity_type <> 'agent_plan' and (c.entity_type <> 'automation_run' or c.feature = 'approvals');
  if cardinality(changes) > 1 or changes[1].entity_type in ('task', 'comment', 'project', 'note', 'file', 'whiteboard', 'doc') then
    perform mark_changes(changes);
  end if;
  if cardinality(changes) > 1 or changes[1].event_type is not null then perform enqueue_events(who, changes); end if;
  return ids[1];
end $$;

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
