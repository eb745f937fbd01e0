-- What each decision of the log was about: the run with its gate, the plan or the change request. Null in rows of the version before. No foreign key:
-- the log outlasts what it counts.
alter table decision_log add column if not exists subject_id uuid;
alter table decision_log add column if not exists gate_index integer;

create or replace function log_gate(of_gate gates, how text) returns void language sql as $$
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by, subject_id, gate_index)
  select 'gate', r.team_id, r.creator_id, r.automation_id::text, how, of_gate.requested_at, of_gate.decided_by, r.run_id, of_gate.gate_index
  from automation_runs r where r.run_id = of_gate.run_id and not r.is_test
$$;

create or replace function log_plan_end() returns trigger language plpgsql as $$
begin
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by, subject_id)
  values ('plan', new.team_id, new.owner_id, new.source, case
    when new.status = 'applied' then 'approved' when new.status = 'expired' then 'expired'
    when new.status = 'discarded' and new.closed_reason = 'person' then 'rejected' else 'cancelled' end, new.staged_at, new.decided_by,
    new.action_id);
  return null;
end $$;

create or replace function log_request_end() returns trigger language plpgsql as $$
begin
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by, subject_id)
  values ('request', new.team_id, new.requested_by, 'request:' || new.systems[1], case
    when new.status in ('approved', 'rejected', 'expired') then new.status else 'cancelled' end, new.created_at, new.decided_by,
    new.request_id);
  return null;
end $$;
