import type { BulkJob } from '../../../db/models/bulk-job.js';
import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Severity } from '../../platform/changes/change-kinds.js';
import type { Context } from '../../platform/context.js';
import type { ChangeEvent } from '../../platform/events/event-types.js';
import { recordChange } from '../../platform/changes/record-change.js';

interface Said {
  /** LOW by default. */
  severity?: Severity;
  /** A line in the activity feed; without one there is none. */
  summary?: string;
  /** Counts, codes and ids. */
  details?: Record<string, unknown>;
  event?: ChangeEvent;
}

/** Writes the audit entry of a change of a job in the same transaction. */
export const recordJobChange = (
  ctx: Context,
  { job_id, team_id }: Pick<BulkJob, 'job_id' | 'team_id'>,
  action: AuditAction,
  said: Said = {},
): Promise<string> =>
  recordChange(ctx, {
    team_id,
    feature: 'bulk_data',
    action,
    entity_type: 'bulk_job',
    entity_id: job_id,
    ...said,
  });
