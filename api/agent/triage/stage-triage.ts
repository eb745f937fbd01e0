import { run } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import type { Proposal } from '../plans/proposal.js';
import type { ActionPlan } from '../plans/schema.js';
import { stagePlan } from '../plans/stage-plan.js';
import { dropSessionStatement, openSessionStatement, supersedeStatement } from './overnight.sql.js';

const LIFE_HOURS = 7 * 24;

/** What one night, or one failed CI run, wants staged in a session of its own. */
export interface TriageProposal extends Pick<Proposal, 'source' | 'actions'> {
  kind: 'overnight_triage' | 'ci_triage';
  team_id: string;
  /** Unique for the cause, for good. */
  subject_key: string;
  title: string;
  trigger: Readonly<Record<string, unknown>>;
}

interface Superseded extends Record<string, unknown> {
  action_id: string;
  team_id: string;
  project_id: string | null;
  summary: string;
}

/** Closes what the new plan replaces, each with its audit entry. */
async function supersede(ctx: Context, actionId: string): Promise<void> {
  const closed = await run<Superseded>(ctx.db, supersedeStatement, [actionId]);
  for (const { action_id, team_id, project_id } of closed) {
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'agent',
      action: 'discard',
      entity_type: 'agent_plan',
      entity_id: action_id,
      details: { closed_reason: 'superseded', superseded_by: actionId },
    });
  }
}

/**
 * Stages a triage in the caller's transaction, once for its subject: opens the session, stages what the user of the context may do, and
 * replaces the plan before. Returns `done` if the subject has a session already, and `nothing` if nothing is left to propose, without a trace.
 */
export async function stageTriage(ctx: Context, proposal: TriageProposal): Promise<ActionPlan | 'done' | 'nothing'> {
  const { kind, team_id, subject_key, title, source, actions, trigger } = proposal;
  const [session] = await run<Proposal['session'] & Record<string, unknown>>(ctx.db, openSessionStatement, [
    kind,
    team_id,
    subject_key,
    title,
  ]);
  if (!session) return 'done';
  const { plan } = await stagePlan(ctx, {
    session,
    source,
    actions,
    trigger,
    lifeHours: LIFE_HOURS,
    onRefusal: 'leave_out',
  });
  if (!plan) {
    await run(ctx.db, dropSessionStatement, [session.session_id]);
    return 'nothing';
  }
  await supersede(ctx, plan.action_id);
  return plan;
}
