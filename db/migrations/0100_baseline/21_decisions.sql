-- Gates and who decided them, notifications that ask for a decision, and the log of gates and plans that ended.

-- The row decides: approve and reject are one compare-and-set on "decision"; timers and signals only wake.
create table gates (
  run_id uuid not null references automation_runs on delete cascade,
  gate_index integer not null,
  required_role text not null check (required_role in ('member', 'manager', 'admin')),
  required_approvals integer not null default 1 check (required_approvals between 1 and 5),
  allow_self_approval boolean not null default true,
  message text,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  lapsed_at timestamptz,
  decision text check (decision in ('approved', 'rejected')),
  decided_by uuid references users,
  decided_at timestamptz,
  reason text,
  remind_at timestamptz,
  reminded_at timestamptz,
  -- What the gate releases, as people see it and as the run performs it. Null until it is staged: gates that an older version of the service
  -- opened are staged when somebody first looks at them.
  staged text,
  staged_hash text,
  -- The text holds what each action would change.
  staged_tried boolean not null default false,
  -- Only a signed-in person decides, no token.
  signed_in boolean not null default false,
  -- The gate asks again when a target changes between the yes and the performance.
  asks_again boolean not null default false,
  -- How often a change has opened it again.
  reopened smallint not null default 0,
  -- Versions of the targets by id: as they were at the first yes, and after each action of the run itself.
  known_versions jsonb,
  primary key (run_id, gate_index),
  constraint gates_staged_hash check ((staged is null) = (staged_hash is null))
);

create table gate_approvals (
  run_id uuid not null,
  gate_index integer not null,
  user_id uuid not null references users,
  approved_at timestamptz not null default now(),
  comment text,
  primary key (run_id, gate_index, user_id),
  foreign key (run_id, gate_index) references gates on delete cascade
);
create index gate_approvals_of_person on gate_approvals (user_id);

create table notifications (
  notification_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  team_id uuid references teams,
  kind text not null,
  message text not null,
  run_id uuid references automation_runs on delete set null,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  -- The plan that waits for a confirmation; null in notifications of older versions of the service.
  action_id uuid references agent_plans on delete set null
);
create index notifications_of_user on notifications (user_id, notification_id desc);
create index notifications_unread on notifications (user_id, notification_id desc) where read_at is null;
create index notifications_of_run on notifications (run_id) where run_id is not null;
create index notifications_of_plan on notifications (action_id) where action_id is not null;

-- Notifications that ask for a decision are read once there is one. A run leaves the status "paused" and a plan the status "staged" in the
-- transaction that decides about them or ends them, whatever route it takes, so triggers see every end. A run and a plan have a few hundred
-- notifications at most, which an index finds. What a reader has locked is skipped: the reader marks it, and no two decisions wait for each
-- other's notifications.
create function read_requests_of_run() returns trigger language plpgsql as $$
begin
  update notifications n set read_at = clock_timestamp() from (
    select w.notification_id from notifications w where w.run_id = new.run_id and w.read_at is null
      and w.kind in ('approval_requested', 'approval_reminder') for no key update skip locked
  ) asked where n.notification_id = asked.notification_id;
  return null;
end $$;
create trigger run_goes_on after update of status on automation_runs for each row
  when (old.status = 'paused' and new.status <> 'paused') execute function read_requests_of_run();

create function read_requests_of_plan() returns trigger language plpgsql as $$
begin
  update notifications n set read_at = clock_timestamp() from (
    select w.notification_id from notifications w where w.action_id = new.action_id and w.read_at is null for no key update skip locked
  ) asked where n.notification_id = asked.notification_id;
  return null;
end $$;
create trigger plan_closed after update of status on agent_plans for each row
  when (old.status = 'staged' and new.status <> 'staged') execute function read_requests_of_plan();

-- One row for each gate and plan that ended, with how long it waited. Triggers write it in the transaction that ends it, whatever route that
-- takes. A gate has expired from its deadline on: a rejection after that adds nothing, and one that is asked for again counts once more when
-- it ends.
create table decision_log (
  decision_id uuid not null default uuidv7(),
  kind text not null check (kind in ('gate', 'plan')),
  -- The team, or the person whose run or plan it is.
  team_id uuid,
  user_id uuid,
  -- An automation's id, or the source of a plan.
  source text not null,
  state text not null check (state in ('approved', 'rejected', 'expired', 'cancelled')),
  requested_at timestamptz not null,
  decided_by uuid,
  primary key (decision_id)
) partition by range (decision_id);
create index decision_log_of_team on decision_log (team_id, decision_id);
create index decision_log_of_user on decision_log (user_id, decision_id) where team_id is null;
select register_partitions('decision_log', 'month', ahead => 3, keep => 13);

create function log_gate(of_gate gates, how text) returns void language sql as $$
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by)
  select 'gate', r.team_id, r.creator_id, r.automation_id::text, how, of_gate.requested_at, of_gate.decided_by
  from automation_runs r where r.run_id = of_gate.run_id and not r.is_test
$$;

create function log_gate_end() returns trigger language plpgsql as $$
begin
  if new.lapsed_at is not null and old.lapsed_at is null and new.decision is null then perform log_gate(new, 'expired');
  elsif new.decision is not null and old.decision is null and old.lapsed_at is null then
    perform log_gate(new, case when new.decided_at > new.expires_at then 'expired' else new.decision end);
  end if;
  return null;
end $$;
create trigger gate_ends after update of decision, lapsed_at on gates for each row execute function log_gate_end();

create function log_cancelled_gate() returns trigger language plpgsql as $$
begin
  perform log_gate(g, 'cancelled') from gates g where g.run_id = new.run_id and g.decision is null and g.lapsed_at is null;
  return null;
end $$;
create trigger run_ends_at_gate after update of status on automation_runs for each row
  when (old.status = 'paused' and new.finished_at is not null) execute function log_cancelled_gate();

create function log_plan_end() returns trigger language plpgsql as $$
begin
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by)
  values ('plan', new.team_id, new.owner_id, new.source, case
    when new.status = 'applied' then 'approved' when new.status = 'expired' then 'expired'
    when new.status = 'discarded' and new.closed_reason = 'person' then 'rejected' else 'cancelled' end, new.staged_at, new.decided_by);
  return null;
end $$;
create trigger plan_ends after update of status on agent_plans for each row
  when (old.status = 'staged' and new.status <> 'staged') execute function log_plan_end();
