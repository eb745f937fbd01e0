import type { Context } from '../platform/context.js';
import { getRun } from '../automation/runs/get-run.js';
import { notFound } from '../platform/errors.js';
import { gateDecisions } from './gate-decisions.js';
import { requireScopeToRead } from './list-decisions.js';
import { getPlanDecision } from './plan-decisions.js';
import { getRequestDecision } from './request-decisions.js';
import type { Decision, DecisionKind } from './schema.js';

/**
 * Returns one decision whole, open or ended.
 * @throws RESOURCE_NOT_FOUND unknown, or a run that had no gate | PERMISSION_DENIED the caller may not see it
 */
export async function getDecision(ctx: Context, kind: DecisionKind, id: string): Promise<Decision> {
  requireScopeToRead(ctx, kind);
  if (kind === 'plan') return getPlanDecision(ctx, id);
  if (kind === 'request') return getRequestDecision(ctx, id);
  const { run_id } = await getRun(ctx, id);
  const found = (await gateDecisions(ctx, [run_id], true)).get(run_id);
  if (!found) throw notFound('Approval');
  return found;
}
