import type { Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { readPlan } from '../plan-content.js';
import { hashText } from '../../../gate/staging/canonical.js';
import { mayConfirm } from '../decisions/policy.js';
import type { PlanRecord } from '../decisions/schema.js';
import { replaceReferences } from '../../../gate/staging/references.js';

/** A plan as the statements of this folder return it. */
export interface PlanRow {
  action_id: string;
  session_id: string;
  owner_id: string | null;
  team_id: string | null;
  team_ids: string[];
  project_id: string | null;
  source: PlanRecord['source'];
  trigger: Record<string, unknown> | null;
  status: PlanRecord['status'];
  closed_reason: PlanRecord['closed_reason'];
  risk: PlanRecord['risk'];
  canonical: string;
  plan_hash: Buffer;
  token_id: string | null;
  edited_by: string[];
  signed_in: boolean;
  behind_user_ids: string[];
  staged_at: Date;
  expires_at: Date;
  decided_by: string | null;
  decided_at: Date | null;
  comment: string | null;
  undo_of: string | null;
  undone_by: string | null;
  stale: PlanRecord['stale'] | null;
  results: { index: number; result: 'applied' | 'skipped'; made_id: string | null }[] | null;
  /** Teams of the plan in which the caller has a role. */
  member_of: string[];
  seat?: Seat | null;
  found?: number;
  session_title?: string | null;
  note?: string | null;
}

/** The caller must be a member wherever the plan would write: its texts come from there. */
export const isReadable = ({ team_ids, member_of }: PlanRow): boolean => team_ids.every((id) => member_of.includes(id));

/** Whether the caller may confirm a plan that waits; outside its team, every reader has a role. */
export function canConfirm(ctx: Context, row: PlanRow): boolean {
  const seats = new Map(row.team_id === null ? [] : [[row.team_id, row.seat ?? null]]);
  return mayConfirm(ctx, row, row.risk, seats);
}

function toResults({ results }: PlanRow, actions: PlanRecord['actions']): PlanRecord['results'] {
  if (results === null) return null;
  const byIndex = new Map(results.map((row) => [row.index, row]));
  return actions.map(({ index, tool, entity_type, entity_id }) => {
    const row = byIndex.get(index);
    const isComment = tool === 'task.comment' && row?.made_id != null;
    const target = replaceReferences({ entityId: entity_id, params: {} }, (k) => byIndex.get(k)?.made_id ?? `$${k}`);
    return {
      index,
      status: row?.result ?? 'skipped',
      entity_type: isComment ? 'comment' : entity_type,
      entity_id: row?.made_id ?? target.entityId,
    };
  });
}

/** Returns a plan as the API shows it. */
export function presentPlan(row: PlanRow): PlanRecord {
  const { summary, actions } = readPlan(row.canonical);
  return {
    action_id: row.action_id,
    summary,
    actions,
    plan_hash: hashText(row.plan_hash),
    expires_at: row.expires_at.toISOString(),
    session_id: row.session_id,
    team_id: row.team_id,
    project_id: row.project_id,
    source: row.source,
    trigger: row.trigger,
    status: row.status,
    closed_reason: row.closed_reason,
    risk: row.risk,
    created_at: row.staged_at.toISOString(),
    decided_by: row.decided_by,
    decided_at: row.decided_at?.toISOString() ?? null,
    comment: row.comment,
    undo_of: row.undo_of,
    undone_by: row.undone_by,
    stale: row.stale ?? [],
    results: toResults(row, actions),
  };
}
