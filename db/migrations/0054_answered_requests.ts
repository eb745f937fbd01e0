import type { Knex } from 'knex';

/**
 * Notifications that ask for a decision are read once there is one. A run leaves the status `paused` and a plan the status `staged` in the
 * transaction that decides about them or ends them, whatever route it takes, so triggers see every end. A run and a plan have a few hundred
 * notifications at most, which an index finds. What a reader has locked is skipped: the reader marks it, and no two decisions wait for each
 * other's notifications.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- The plan that waits for a confirmation; null in notifications of older versions of the service.
alter table notifications add column action_id uuid references agent_plans on delete set null;
create index notifications_of_plan on notifications (action_id) where action_id is not null;

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

update notifications n set read_at = now() from automation_runs r
  where r.run_id = n.run_id and r.status <> 'paused' and n.read_at is null and n.kind in ('approval_requested', 'approval_reminder');
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
