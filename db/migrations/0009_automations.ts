import type { Knex } from 'knex';

/** Schedules, waiting steps, reminders, in-app notifications and retention of automation runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Time at which a step continues: the end of a delay, or the retry of a failed action. The database's clock decides.
alter table run_actions add column due_at timestamptz;

alter table gates add column remind_at timestamptz, add column reminded_at timestamptz;

create table notifications (
  notification_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  team_id uuid references teams,
  kind text not null,
  message text not null,
  run_id uuid references automation_runs on delete set null,
  created_at timestamptz not null default now(),
  read_at timestamptz
);
create index notifications_of_user on notifications (user_id, notification_id desc);
create index notifications_unread on notifications (user_id, notification_id desc) where read_at is null;
create index notifications_of_run on notifications (run_id) where run_id is not null;

-- A task is announced as due soon and as overdue once per due date.
create table task_due_events (
  task_id text not null references tasks on delete cascade,
  kind text not null check (kind in ('due_soon', 'overdue')),
  due_date text not null,
  marked_at timestamptz not null default now(),
  primary key (task_id, kind, due_date)
);
create index tasks_due on tasks (due_date) where deleted_at is null and status <> 'done' and due_date is not null;

-- Old runs are deleted; rows that reference them stay.
alter table automation_runs
  drop constraint automation_runs_retry_of_fkey,
  add constraint automation_runs_retry_of_fkey foreign key (retry_of) references automation_runs on delete set null,
  drop constraint automation_runs_retried_by_fkey,
  add constraint automation_runs_retried_by_fkey foreign key (retried_by) references automation_runs on delete set null;
create index runs_replayed_by on automation_runs (retried_by) where retried_by is not null;
create index runs_finished on automation_runs (finished_at) where finished_at is not null;
alter table run_actions drop constraint run_actions_run_id_fkey,
  add constraint run_actions_run_id_fkey foreign key (run_id) references automation_runs on delete cascade;
alter table effects drop constraint effects_run_id_fkey,
  add constraint effects_run_id_fkey foreign key (run_id) references automation_runs on delete cascade;
alter table gates drop constraint gates_run_id_fkey,
  add constraint gates_run_id_fkey foreign key (run_id) references automation_runs on delete cascade;
alter table gate_approvals drop constraint gate_approvals_run_id_gate_index_fkey,
  add constraint gate_approvals_run_id_gate_index_fkey foreign key (run_id, gate_index) references gates on delete cascade;

-- An automation's Temporal Schedule is a projection of its row, so any change of the row notifies the worker.
create function enqueue_schedule_sync() returns trigger language plpgsql as $$
begin
  insert into outbox (kind, subject, team_id, payload, correlation_id)
    values ('schedule.sync', new.automation_id::text, new.team_id, jsonb_build_object('automation_id', new.automation_id), uuidv7());
  return null;
end $$;
create trigger schedule_made after insert on automations for each row when (new.trigger_type = 'schedule')
  execute function enqueue_schedule_sync();
create trigger schedule_changed after update on automations for each row
  when ((old.trigger_type = 'schedule' or new.trigger_type = 'schedule') and
    (old.trigger_type, old.schedule_cron, old.schedule_timezone, old.is_active, old.deleted_at) is distinct from
    (new.trigger_type, new.schedule_cron, new.schedule_timezone, new.is_active, new.deleted_at))
  execute function enqueue_schedule_sync();
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
