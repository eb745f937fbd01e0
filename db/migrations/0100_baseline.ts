import { sqlMigration } from './sql-files.js';

/** The whole schema as version 0.2.0 begins with it: one file for each group of tables, with the functions and triggers beside what uses them. */
const GROUPS = [
  '01_partitions',
  '02_users',
  '03_teams',
  '04_tasks',
  '05_recurrence',
  '06_cycles',
  '07_items',
  '08_fields_and_views',
  '09_search_text',
  '10_search_index',
  '11_audit',
  '12_audit_sealing',
  '13_activity',
  '14_events',
  '15_automations',
  '16_runs',
  '17_forge',
  '18_webhooks',
  '19_agent',
  '20_triage',
  '21_decisions',
  '22_runners',
  '23_bulk',
  '24_service',
];

export const { up, down } = sqlMigration(...GROUPS.map((group) => `0100_baseline/${group}.sql`));
