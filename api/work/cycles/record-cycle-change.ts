import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Context } from '../../platform/context.js';
import { type Change, recordChange } from '../../platform/changes/record-change.js';

interface ChangedCycle {
  cycle_id: string;
  team_id: string;
  project_id: string | null;
  name: string;
}

/** Records a change of a cycle: audit entry, activity line and event. */
export const recordCycleChange = (
  ctx: Context,
  { cycle_id, team_id, project_id, name }: ChangedCycle,
  action: AuditAction,
  change: Pick<Change, 'summary' | 'details' | 'event'>,
): Promise<string> =>
  recordChange(ctx, {
    team_id,
    project_id,
    feature: 'cycles',
    action,
    entity_type: 'cycle',
    entity_id: cycle_id,
    title: name,
    ...change,
  });
