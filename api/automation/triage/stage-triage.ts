import { run } from '../../../db/statement.js';
import type { TriageResult } from '../../../workflows/contracts/triage-contract.js';
import type { Context } from '../../platform/context.js';
import { supersedePlans } from '../../agent/plans/decisions/close-plans.js';
import type { Proposal } from '../../agent/plans/proposal.js';
import { planRisk } from '../../agent/plans/rules.js';
import { stagePlan } from '../../agent/plans/stage-plan.js';
import { dropSessionStatement, openSessionStatement, planOfSubjectStatement, replacedPlansStatement } from './overnight.sql.js';

const LIFE_HOURS = 7 * 24;

/** What one night, or one failed CI run, wants staged in a session of its own. */
export interface TriageProposal extends Pick<Proposal, 'source' | 'actions' | 'behind'> {
  kind: 'overnight_triage' | 'ci_triage';
  team_id: string;
  /** Unique for the cause; never used twice. */
  subject_key: string;
  title: string;
  trigger: Readonly<Record<string, unknown>>;
}

/** Closes what the new plan replaces, each with its audit entry. */
async function replaceOlder(ctx: Context, actionId: string): Promise<void> {
  const older = await run<{ action_id: string }>(ctx.db, replacedPlansStatement, [actionId]);
  if (older.length > 0)
    await supersedePlans(
      ctx,
      older.map(({ action_id }) => action_id),
      actionId,
    );
}

/**
 * Stages a triage in the caller's transaction, once for its subject: opens the session, stages what the user of the context may do, and
 * replaces the plan before. The outcome is `done` if the subject has a session already, also because an earlier attempt committed and its response was lost
 * of it, and `nothing` if nothing is left to propose, without a trace.
 */
export async function stageTriage(ctx: Context, proposal: TriageProposal): Promise<TriageResult> {
  const { kind, team_id, subject_key, title, source, actions, trigger, behind = [] } = proposal;
  const [session] = await run<Proposal['session'] & Record<string, unknown>>(ctx.db, openSessionStatement, [
    kind,
    team_id,
    subject_key,
    title,
  ]);
  if (!session) {
    const [staged] = await run<{ action_id: string }>(ctx.db, planOfSubjectStatement, [subject_key]);
    return { outcome: 'done', ...(staged && { actionId: staged.action_id }) };
  }
  const { plan } = await stagePlan(ctx, {
    session,
    source,
    actions,
    trigger,
    behind,
    lifeHours: LIFE_HOURS,
    onRefusal: 'leave_out',
  });
  if (!plan) {
    await run(ctx.db, dropSessionStatement, [session.session_id]);
    return { outcome: 'nothing' };
  }
  await replaceOlder(ctx, plan.action_id);
  return { outcome: 'proposed', actionId: plan.action_id, changes: plan.actions.length, risk: planRisk(plan.actions) };
}
