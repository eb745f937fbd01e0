import type { AutomationRow } from './automation-record.js';
import { upcoming } from './schedule/check-schedule.js';
import type { AutomationRecord } from './schema.js';

const iso = (at: Date | string | null): string | null => (at === null ? null : new Date(at).toISOString());

const SHOWN_RUNS = 5;
const listNextRuns = (row: AutomationRow): string[] =>
  row.is_active && !row.is_in_trashed_project ? upcoming(row, SHOWN_RUNS).map((at) => at.toISOString()) : [];

/** Converts an automation for the API. */
export const presentAutomation = (row: AutomationRow): AutomationRecord => presentWith(row, listNextRuns(row));

const presentWith = (row: AutomationRow, nextRuns: string[]): AutomationRecord => ({
  automation_id: row.automation_id,
  name: row.name,
  description: row.description,
  trigger_type: row.trigger_type,
  trigger_config: row.trigger_config,
  condition: row.condition,
  actions: row.actions,
  is_active: row.is_active,
  schedule_cron: row.schedule_cron,
  schedule_timezone: row.schedule_timezone,
  team_id: row.team_id,
  project_id: row.project_id,
  version: row.version,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  updated_by: row.updated_by,
  updated_at: row.updated_at.toISOString(),
  next_run_at: nextRuns[0] ?? null,
  next_runs: nextRuns,
  last_run_at: iso(row.last_run_at),
  last_run_status: row.last_run_status,
  run_count: row.run_count,
  failed_count: row.failed_count,
  skipped_not_kept: row.skipped_not_kept,
  disabled_reason: row.disabled_reason,
  is_protected: row.is_protected,
});
