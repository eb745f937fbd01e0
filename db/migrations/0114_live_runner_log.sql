-- The log of a running job, for the pages that show it: one row at most every four seconds, when the lease is renewed by a part of the log or a heartbeat
-- and more of it was stored than the row before told. A row for each part would be written mostly for pages that nobody has open.
alter table runner_jobs add log_announced bigint not null default 0;

create function announce_runner_log() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, team_id, entity_type, action, entity_id, correlation_id)
    values (new.team_id, new.team_id, 'runner_job', 'log', new.job_id, new.correlation_id);
  new.log_announced := new.log_size;
  return new;
end $$;
create trigger runner_log_live before update of lease_until on runner_jobs for each row
  when (new.log_size > new.log_announced
    and floor(extract(epoch from new.lease_until) / 4) <> floor(extract(epoch from old.lease_until) / 4))
  execute function announce_runner_log();
