import type { Automation } from '../../../db/models/automation/automation.js';
import type { Seat } from '../../platform/access/access.js';
import type { RunStatus } from '../runs/record/rules.js';

/**
 * An automation with the counters of its runs and the caller's role in its team. Test runs do not count. `run_count` and
 * `failed_count` include deleted runs; the last run is the newest one stored, or the last one skipped.
 */
export type AutomationRow = Pick<Automation, keyof Automation> & {
  seat: Seat | null;
  /** Its project is in the trash; restoring the project makes it active again. */
  is_in_trashed_project: boolean;
  run_count: number;
  failed_count: number;
  /** Skipped runs that the team's budget did not keep. */
  skipped_not_kept: number;
  last_run_at: Date | null;
  last_run_status: RunStatus | null;
};
