import { webAddress } from '../../../../platform/config.js';
import type { Context } from '../../../../platform/context.js';
import { recordChange } from '../../../../platform/changes/record-change.js';
import type { GateRole } from '../../../actions/rules.js';
import type { RunRow } from '../../execution/load-run.js';
import { runEvent } from '../../execution/publish.js';
import type { StoredTail } from '../../staging/tail.js';
import { notifyApprovers } from './notify-approvers.js';
import { notifyShortage } from './notify-shortage.js';

/** A gate that has just opened. */
export interface OpenedGate extends Record<string, unknown> {
  required_role: GateRole;
  required_approvals: number;
  message: string | null;
  expires_at: Date;
}

/**
 * Tells who can approve that a gate waits: in the app, by email, and other systems by an event. Tells the admins and the creator if too few people
 * can. `summary`: for the audit entry; `more`: its further details.
 */
export async function announceGate(
  ctx: Context,
  run: RunRow,
  index: number,
  gate: OpenedGate & StoredTail,
  { summary, ...more }: { summary: string } & Record<string, unknown>,
): Promise<void> {
  const { run_id, team_id, project_id, automation_id, automation_name } = run;
  const { required_role, required_approvals, message, expires_at, staged_hash } = gate;
  const details = { gate_index: index, required_role, expires_at: expires_at.toISOString() };
  await recordChange(ctx, {
    team_id,
    project_id,
    feature: 'approvals',
    action: 'stage',
    severity: 'MEDIUM',
    entity_type: 'automation_run',
    entity_id: run_id,
    title: automation_name,
    summary,
    details: { ...details, automation_id, staged_hash, ...more },
    // The link leads to a page that asks who decides: it carries no authority.
    event: runEvent('approval.requested', run, {
      ...details,
      message,
      required_approvals,
      url: webAddress(ctx.config, `/app/approvals/gate/${run_id}`),
    }),
  });
  const people = await notifyApprovers(ctx, run, gate, 'approval_requested');
  if (people < required_approvals) await notifyShortage(ctx, run, gate, people);
}
