import type { Knex } from 'knex';

/** The event of a job of bulk data that ended, also for the endpoints that ask for every event. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
insert into event_types (event_type, triggers) values ('bulk.job_finished', '{bulk.job_finished}');
-- The trigger of the table writes the event types of each endpoint anew.
update webhooks set events = events where '*' = any(events);`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
