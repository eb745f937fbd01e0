/**
 * The migrations in order; listed explicitly so that a build contains exactly what was reviewed.
 *
 * A released file never changes: `released.json` has the checksum of each, and `npm run release:migrations` adds those of a new version. A change of
 * the schema is a new file of SQL and one line here, `'0102_x': sqlMigration('0102_x.sql')`. It takes three steps, each safe while processes of the
 * version before still run:
 *
 * 1. Expand: add tables, nullable columns, columns with a constant default, indexes, constraints that are `not valid`. Nothing is renamed, removed or
 *    narrowed. The version of the code that comes with it writes the old and the new form.
 * 2. Backfill: in batches of 1,000 rows or so, each in its own transaction (`export const config = { transaction: false }`), so that no lock outlasts a
 *    batch and an interrupted migration continues where it stopped.
 * 3. Contract: in a later version, when no process reads the old form: drop it, validate the constraint, and set `oldest_version` in
 *    `schema_compatibility` to the first version that does without. Older processes then refuse to start.
 */
import type { Knex } from 'knex';
import * as baseline from './0100_baseline.js';
import * as schemaCompatibility from './0101_schema_compatibility.js';
import * as numberTasks from './0112_number_tasks.js';
import * as tasksOfStage from './0126_tasks_of_stage.js';
import * as decidedSubjects from './0134_decided_subjects.js';
import * as waitingSubjects from './0136_waiting_subjects.js';
import { sqlMigration } from './sql-files.js';

/** The numbers continue after those of version 0.1.0, which asks whether the newest name is at least its own. */
const MIGRATIONS: Record<string, Knex.Migration> = {
  '0100_baseline': baseline,
  '0101_schema_compatibility': schemaCompatibility,
  '0102_show_task_column': sqlMigration('0102_show_task_column.sql'),
  '0103_audit_stream': sqlMigration('0103_audit_stream.sql'),
  '0104_change_requests': sqlMigration('0104_change_requests.sql'),
  '0105_mcp_gateway': sqlMigration('0105_mcp_gateway.sql'),
  '0106_live_changes': sqlMigration('0106_live_changes.sql'),
  '0107_team_example': sqlMigration('0107_team_example.sql'),
  '0108_live_progress': sqlMigration('0108_live_progress.sql'),
  '0109_personal_notices': sqlMigration('0109_personal_notices.sql'),
  '0110_agent_answers': sqlMigration('0110_agent_answers.sql'),
  '0111_task_numbers': sqlMigration('0111_task_numbers.sql'),
  '0112_number_tasks': numberTasks,
  '0113_short_typos': sqlMigration('0113_short_typos.sql'),
  '0114_live_runner_log': sqlMigration('0114_live_runner_log.sql'),
  '0115_task_resolution': sqlMigration('0115_task_resolution.sql'),
  '0116_automation_hooks': sqlMigration('0116_automation_hooks.sql'),
  '0117_signed_hooks': sqlMigration('0117_signed_hooks.sql'),
  '0118_described_mentions': sqlMigration('0118_described_mentions.sql'),
  '0119_task_estimate': sqlMigration('0119_task_estimate.sql'),
  '0120_stages': sqlMigration('0120_stages.sql'),
  '0123_forge_addresses': sqlMigration('0123_forge_addresses.sql'),
  '0124_quiet_imports': sqlMigration('0124_quiet_imports.sql'),
  '0125_common_last_words': sqlMigration('0125_common_last_words.sql'),
  '0126_tasks_of_stage': tasksOfStage,
  '0128_webhook_format': sqlMigration('0128_webhook_format.sql'),
  '0129_repeating_cycles': sqlMigration('0129_repeating_cycles.sql'),
  '0130_task_followers': sqlMigration('0130_task_followers.sql'),
  '0131_pull_request_links': sqlMigration('0131_pull_request_links.sql'),
  '0132_names_of_task_event': sqlMigration('0132_names_of_task_event.sql'),
  '0134_decided_subjects': decidedSubjects,
  '0136_waiting_subjects': waitingSubjects,
  '0139_project_lead': sqlMigration('0139_project_lead.sql'),
  '0140_project_updates': sqlMigration('0140_project_updates.sql'),
  '0141_expected_assignees': sqlMigration('0141_expected_assignees.sql'),
  '0146_field_changed': sqlMigration('0146_field_changed.sql'),
  '0148_update_mentions': sqlMigration('0148_update_mentions.sql'),
  '0150_kept_subjects': sqlMigration('0150_kept_subjects.sql'),
  '0151_room_for_followers': sqlMigration('0151_room_for_followers.sql'),
  '0158_pull_request_states': sqlMigration('0158_pull_request_states.sql'),
  '0161_no_priority': sqlMigration('0161_no_priority.sql'),
};

/** Names in order. The service needs all of them (`db/schema/check-schema.ts`). */
export const MIGRATION_NAMES: readonly string[] = Object.keys(MIGRATIONS);

/** Provides the migrations to knex. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve([...MIGRATION_NAMES]),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve(MIGRATIONS[name] as Knex.Migration),
};
