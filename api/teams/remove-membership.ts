import { Membership } from '../../db/models/membership.js';
import type { Team } from '../../db/models/team.js';
import { closePlansInTeam } from '../agent/plans/decisions/close-plans.js';
import { unlinkTeam } from '../agent/sessions/end-sessions.js';
import { voidApprovals } from '../runs/approvals/void-approvals.js';
import { disableAutomationsOf, lockAutomationsOf } from '../automations/ownership/disable-automations.js';
import type { Context } from '../core/context.js';
import { recordChange } from '../core/record-change.js';
import { deleteRegistrationTokensOf } from '../runners/registration/delete-runner.js';
import { deleteViewsOfMember } from '../saved-views/delete-view.js';
import type { Member } from './schema.js';
import { revokeInvitationsBy } from './invitations/revoke-invitations-by.js';
import { lockTasksOf, unassignTasks } from './unassign-tasks.js';

/**
 * Removes a member from a team that the caller locked (lockTeam) and records it. Also reassigns their open tasks to `successor` (a
 * member, or null), revokes their invitations and pending approvals, discards their plans for the team, disables their automations, removes
 * the team's items from their sessions with the agent, and deletes the views that they saved and the registration tokens of runners. Returns the number of tasks.
 * See docs/decisions.md#removed-members.
 */
export async function removeMembership(
  ctx: Context,
  team: Team,
  member: Member,
  { summary, successor = null }: { summary: string; successor?: string | null },
): Promise<number> {
  const { team_id, name } = team;
  const { user_id, role } = member;
  await lockTasksOf(ctx, team_id, user_id);
  await lockAutomationsOf(ctx, user_id, team_id);
  // Writers lock the membership FOR KEY SHARE until they commit: after this lock none of them can still assign tasks or act by it.
  const membership = (await Membership.query(ctx.db).findById([team_id, user_id]).forUpdate()) as Membership;
  await membership.$query(ctx.db).delete();
  const invitations = await revokeInvitationsBy(ctx, team_id, user_id);
  await closePlansInTeam(ctx, user_id, team_id);
  const voided = await voidApprovals(ctx, user_id, { team_id, role: null });
  const unlinked = await unlinkTeam(ctx, user_id, team_id);
  const views = await deleteViewsOfMember(ctx, team_id, user_id);
  const runner_tokens = await deleteRegistrationTokensOf(ctx, team_id, user_id);
  const disabled = await lockAutomationsOf(ctx, user_id, team_id);
  await recordChange(ctx, {
    team_id,
    feature: 'teams',
    action: 'remove_member',
    severity: 'MEDIUM',
    entity_type: 'team',
    entity_id: team_id,
    title: name,
    summary,
    details: {
      user_id,
      role,
      ...(invitations > 0 ? { revoked_invitations: invitations } : {}),
      ...(unlinked > 0 ? { agent_links: unlinked } : {}),
      ...(runner_tokens > 0 ? { runner_tokens } : {}),
      ...(views > 0 ? { saved_views: views } : {}),
      ...voided,
      ...disabled,
    },
    event: { type: 'team.member_removed', payload: { member } },
  });
  await disableAutomationsOf(ctx, user_id, team_id, 'has left the team');
  return unassignTasks(ctx, team_id, user_id, successor);
}
