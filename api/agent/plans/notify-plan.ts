import type { Context } from '../../platform/context.js';
import { findRecipients } from '../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../work/notifications/notify-users.js';
import type { PlanSource } from '../../gate/work-actions/action.js';
import type { Risk } from '../../gate/contract/action-type.js';

/** A plan that waits for a person. */
interface WaitingPlan {
  action_id: string;
  owner_id: string | null;
  team_id: string | null;
  source: PlanSource;
  risk: Risk;
  summary: string;
  expires_at: Date;
}

const NAME: Readonly<Record<PlanSource, string>> = {
  chat: 'a plan',
  overnight_triage: 'Overnight triage',
  ci_failure_triage: 'CI triage',
  automation: 'an automation',
  mcp: 'an outside agent',
};
const UTC = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium', timeStyle: 'short' });

/**
 * Notifies the users who may confirm a plan: its owner, or those of its team with a sufficient role. A new plan shows in the app only, a
 * reminder goes by email too. The text is ours: counts, no title and no word of a model. Returns the number of recipients.
 */
export async function notifyStaged(ctx: Context, plan: WaitingPlan, kind: 'plan_staged' | 'plan_reminder'): Promise<number> {
  const { owner_id, team_id, source, risk, summary, expires_at } = plan;
  const wanted =
    team_id === null ? { teamId: null, userIds: owner_id === null ? [] : [owner_id] } : { teamId: team_id, role: roleFor(risk) };
  const people = await findRecipients(ctx, wanted);
  const from = source === 'chat' ? NAME.chat : `a plan of ${NAME[source]}`;
  const message = `${kind === 'plan_reminder' ? 'Still waiting' : 'Waiting'} for your confirmation: ${from} (${summary})`;
  const details = [`Highest risk: ${risk}.`, `Expires ${UTC.format(expires_at)} UTC.`];
  const notice = {
    kind,
    title: message,
    message,
    details,
    team_id,
    run_id: null,
    action_id: plan.action_id,
    path: `/app/approvals/plan/${plan.action_id}`,
  } as const;
  await notifyUsers(ctx, people, notice, kind === 'plan_reminder' ? ['in_app', 'email'] : ['in_app']);
  return people.length;
}

/** Lowest role that may confirm a plan of a team. */
const roleFor = (risk: Risk): 'member' | 'manager' => (risk === 'high' ? 'manager' : 'member');
