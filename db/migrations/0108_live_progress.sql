-- What pages and programs wait for between the states of a run, and between the start and the end of an export or import.

-- Steps that last: those that wait for a delay, a retry or an answer, and that have waited. A step without a wait has no row of its own: what
-- follows it in the run has one within the same second.
create function record_live_step() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, project_id, entity_type, action, entity_id, parent_id, correlation_id)
    select coalesce(r.team_id, r.creator_id), r.team_id, r.project_id, 'automation_run', 'step_' || new.status, r.run_id, r.automation_id,
      r.correlation_id
    from automation_runs r where r.run_id = new.run_id;
  return null;
end $$;
create trigger step_changed_live after update of status, due_at on run_actions for each row
  when ('running' in (old.status, new.status) and (old.status <> new.status or old.due_at is distinct from new.due_at))
  execute function record_live_step();

-- One row a batch of records; the start, the end and a cancellation are changes of their own.
create function record_live_bulk_job() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, entity_type, action, entity_id) values (new.team_id, new.team_id, 'bulk_job', 'progress', new.job_id);
  return null;
end $$;
create trigger bulk_job_progress_live after update on bulk_jobs for each row
  when ((old.processed, old.total, old.undo_status, old.undone) is distinct from (new.processed, new.total, new.undo_status, new.undone)
    or (old.status = 'queued' and new.status = 'running'))
  execute function record_live_bulk_job();

-- Deliveries of an endpoint: one row where its health says something new, which is after each batch with a failure and at most every five seconds of
-- successes. A row a delivery would double what the delivery of an event writes, mostly for pages that nobody has open.
create function record_live_deliveries() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, entity_type, action, entity_id)
    select w.team_id, w.team_id, 'webhook', 'delivery', w.webhook_id from webhooks w where w.webhook_id = new.webhook_id;
  return null;
end $$;
create trigger webhook_delivered_live after update of last_success_at, last_failure_at on webhook_health for each row
  when (old.last_success_at is distinct from new.last_success_at or old.last_failure_at is distinct from new.last_failure_at)
  execute function record_live_deliveries();

-- Steps and states of a deprovisioning, for the administrator who requested it.
create function record_live_deprovision() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, entity_type, action, entity_id, correlation_id)
    select j.requested_by, 'deprovision_job', case tg_table_name when 'deprovision_jobs' then j.status else 'progress' end, j.job_id, j.correlation_id
    from deprovision_jobs j where j.job_id = new.job_id and j.requested_by is not null;
  return null;
end $$;
create trigger deprovision_step_live after insert on deprovision_steps for each row execute function record_live_deprovision();
create trigger deprovision_changed_live after update of status on deprovision_jobs for each row
  when (old.status <> new.status) execute function record_live_deprovision();
