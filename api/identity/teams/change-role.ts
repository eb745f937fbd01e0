import { Membership } from '../../../db/models/membership.js';
import type { Team } from '../../../db/models/team.js';
import { loseRequestRights } from '../../gate/requests/decide/close-requests.js';
import { voidApprovals } from '../../automation/runs/approvals/void-approvals.js';
import { disableUserAutomations, lockUserAutomations } from '../../automation/definitions/ownership/disable-automations.js';
import { authorize, isAllowed, type Seat } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { lockTeam } from './lock-team.js';
import { requireAnotherAdmin } from './require-another-admin.js';
import { readMember } from './read-members.js';
import { revokeInvitationsBy } from './invitations/revoke-invitations-by.js';
import type { Member } from './schema.js';

/**
 * Changes the role of a membership that the caller locked FOR UPDATE, with its team, and records it; the same role changes nothing.
 */
export async function changeLockedRole(ctx: Context, team: Team, membership: Membership, role: Seat): Promise<void> {
  const { team_id, user_id, role: before } = membership;
  if (before === role) return;
  await membership.$query(ctx.db).patch({ role });
  // Only admins may invite, so the pending invitations of a former admin are revoked.
  if (isAllowed('member.manage', before) && !isAllowed('member.manage', role)) await revokeInvitationsBy(ctx, team_id, user_id);
  const voided = {
    ...(await voidApprovals(ctx, user_id, { team_id, role })),
    ...(await loseRequestRights(ctx, user_id, { team_id, role })),
  };
  const disabled = !isAllowed('automation.write', role) ? await lockUserAutomations(ctx, user_id, team_id) : {};
  await recordChange(ctx, {
    team_id,
    feature: 'teams',
    action: 'change_role',
    severity: 'HIGH',
    entity_type: 'team',
    entity_id: team_id,
    title: team.name,
    summary: `made a ${before} a ${role}`,
    details: { user_id, changes: { role: { from: before, to: role } }, ...voided, ...disabled },
  });
  if (!isAllowed('automation.write', role)) await disableUserAutomations(ctx, user_id, team_id, `has become a ${role}`);
}

/**
 * Changes a member's role; the same role changes nothing. The automations of a new guest are disabled.
 * @throws RESOURCE_NOT_FOUND no such team or member | PERMISSION_DENIED below admin | RESOURCE_CONFLICT the last admin
 */
export function changeRole(ctx: Context, teamId: string, userId: string, role: Seat): Promise<Member> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeam(ctx, teamId);
    authorize('member.manage', await findSeat(ctx, teamId));
    if (!isAllowed('automation.write', role)) await lockUserAutomations(ctx, userId, teamId);
    // FOR UPDATE waits for writers that already used this role: none of them commits after the demotion.
    const membership = await Membership.query(ctx.db).findById([teamId, userId]).forUpdate();
    if (!membership) throw notFound('Member');
    if (membership.role !== role) await requireAnotherAdmin(ctx, membership);
    await changeLockedRole(ctx, team, membership, role);
    return (await readMember(ctx, teamId, userId)) as Member;
  });
}
