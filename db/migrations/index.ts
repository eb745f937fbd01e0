import type { Knex } from 'knex';
import * as core from './0001_core.js';
import * as automations from './0002_automations.js';
import * as tasks from './0003_tasks.js';
import * as recurrence from './0004_recurrence.js';
import * as conventions from './0005_conventions.js';
import * as accounts from './0006_accounts.js';
import * as access from './0007_access.js';
import * as vault from './0008_vault.js';
import * as schedules from './0009_automations.js';
import * as replays from './0010_replays.js';
import * as events from './0011_events.js';
import * as secretHosts from './0012_secret_hosts.js';
import * as protectedAutomations from './0013_protected_automations.js';
import * as invitations from './0014_access.js';
import * as fairReads from './0015_fair_reads.js';
import * as audit from './0016_audit.js';
import * as fourEyes from './0018_four_eyes.js';
import * as eventAudience from './0019_event_audience.js';
import * as plans from './0020_plans.js';
import * as rejectedRuns from './0021_rejected_runs.js';
import * as workItems from './0022_work_items.js';
import * as relations from './0023_relations.js';
import * as search from './0024_search.js';
import * as files from './0025_files.js';
import * as cycleTimes from './0026_cycle_times.js';
import * as agent from './0027_agent.js';
import * as triage from './0028_triage.js';
import * as tokenOfTurn from './0029_token_of_turn.js';
import * as webhooks from './0030_webhooks.js';
import * as openTurnsOfTeam from './0031_open_turns_of_team.js';
import * as auditLog from './0032_audit_log.js';
import * as auditArchives from './0033_audit_archives.js';
import * as cycles from './0034_cycles.js';
import * as savedViews from './0035_saved_views.js';
import * as activityPages from './0036_activity_pages.js';
import * as customFields from './0037_custom_fields.js';
import * as runners from './0038_runners.js';
import * as bulk from './0039_bulk.js';
import * as consent from './0041_consent.js';
import * as definitionSize from './0043_definition_size.js';
import * as skippedRuns from './0045_skipped_runs.js';
import * as bulkEvents from './0048_bulk_events.js';
import * as cascades from './0049_cascades.js';
import * as versionReferences from './0051_version_references.js';
import * as peopleBehind from './0052_people_behind.js';
import * as decisions from './0053_decisions.js';
import * as answeredRequests from './0054_answered_requests.js';
import * as activityCauses from './0055_activity_causes.js';
import * as decisionLog from './0056_decision_log.js';
import * as editedPlans from './0057_edited_plans.js';
import * as ifChanged from './0058_if_changed.js';

/** Every migration in order; listed explicitly so that a build contains exactly what was reviewed. Never edited once released. */
const MIGRATIONS: Record<string, Knex.Migration> = {
  '0001_core': core,
  '0002_automations': automations,
  '0003_tasks': tasks,
  '0004_recurrence': recurrence,
  '0005_conventions': conventions,
  '0006_accounts': accounts,
  '0007_access': access,
  '0008_vault': vault,
  '0009_automations': schedules,
  '0010_replays': replays,
  '0011_events': events,
  '0012_secret_hosts': secretHosts,
  '0013_protected_automations': protectedAutomations,
  '0014_access': invitations,
  '0015_fair_reads': fairReads,
  '0016_audit': audit,
  '0018_four_eyes': fourEyes,
  '0019_event_audience': eventAudience,
  '0020_plans': plans,
  '0021_rejected_runs': rejectedRuns,
  '0022_work_items': workItems,
  '0023_relations': relations,
  '0024_search': search,
  '0025_files': files,
  '0026_cycle_times': cycleTimes,
  '0027_agent': agent,
  '0028_triage': triage,
  '0029_token_of_turn': tokenOfTurn,
  '0030_webhooks': webhooks,
  '0031_open_turns_of_team': openTurnsOfTeam,
  '0032_audit_log': auditLog,
  '0034_cycles': cycles,
  '0033_audit_archives': auditArchives,
  '0035_saved_views': savedViews,
  '0036_activity_pages': activityPages,
  '0037_custom_fields': customFields,
  '0038_runners': runners,
  '0039_bulk': bulk,
  '0041_consent': consent,
  '0043_definition_size': definitionSize,
  '0045_skipped_runs': skippedRuns,
  '0048_bulk_events': bulkEvents,
  '0049_cascades': cascades,
  '0051_version_references': versionReferences,
  '0052_people_behind': peopleBehind,
  '0053_decisions': decisions,
  '0054_answered_requests': answeredRequests,
  '0055_activity_causes': activityCauses,
  '0056_decision_log': decisionLog,
  '0057_edited_plans': editedPlans,
  '0058_if_changed': ifChanged,
};

/** Provides the migrations to knex. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(MIGRATIONS)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve(MIGRATIONS[name] as Knex.Migration),
};

/** The newest migration; readiness compares it with the database. */
export const LATEST_MIGRATION = Object.keys(MIGRATIONS).at(-1) as string;
