import type { Knex } from 'knex';

/**
 * A definition has at most 64 kB. Checked on versions, because every save writes one and nothing changes one: automations that are
 * larger from before keep running, and their rows may still be counted, paused and renamed by the product.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table automation_versions add constraint automation_versions_definition_size
      check (octet_length(actions::text) + octet_length(trigger_config::text) + coalesce(octet_length(condition), 0) <= 65536) not valid`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
