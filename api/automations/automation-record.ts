import type { Automation } from '../../db/models/automation.js';
import type { Seat } from '../core/access.js';
import type { RunStatus } from '../runs/record/rules.js';

/**
 * An automation with the counters of its runs and the caller's role in its team. Test runs do not count. `run_count` and
 * `failed_count` include deleted runs; the last run is the newest one stored.
 */
export type AutomationRow = Pick<Automation, keyof Automation> & {
  seat: Seat | null;
  /** Its project is in the trash; restoring the project makes it active again. */
  is_disarmed: boolean;
  run_count: number;
  failed_count: number;
  last_run_at: Date | null;
  last_run_status: RunStatus | null;
};
