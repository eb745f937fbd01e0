import type { Knex } from 'knex';

/** Finds an event's automations without reading those for other projects or other triggers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create index automations_enabled_for_team on automations (team_id, trigger_type)
  where project_id is null and is_active and deleted_at is null;
create index automations_enabled_for_project on automations (project_id, trigger_type)
  where project_id is not null and is_active and deleted_at is null;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
