import { Membership } from '../../../db/models/membership.js';
import type { Team } from '../../../db/models/team.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { conflict, notFound } from '../../platform/errors.js';
import { assignExpected } from '../../work/tasks/write/expect-assignee.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { readMember } from './read-members.js';
import type { Member } from './schema.js';

/** $1 = user id. The lock makes a concurrent deprovisioning wait, or sees that it was first (request-deprovision.ts). */
const lockPerson = defineStatement({
  name: 'lock_person_for_seat',
  text: "select from users where user_id = $1 and status <> 'deprovisioned' for key share",
});

/** $1 = team id, $2 = user id. Closes the invitation that led to the membership. */
const closeInvitations = defineStatement({
  name: 'close_invitations',
  text: /* sql */ `
    update invitations set accepted_at = now()
    where team_id = $1 and (user_id = $2 or email = (select email from users where user_id = $2)) and accepted_at is null and revoked_at is null`,
});

/**
 * Adds a user to a team that the caller locked (lockTeam) and records it; a pending invitation counts as accepted. The
 * member gets the tasks that imports kept for their address.
 * @throws RESOURCE_CONFLICT is a member already | RESOURCE_NOT_FOUND deprovisioned concurrently
 */
export async function createMembership(
  ctx: Context,
  team: Team,
  userId: string,
  role: Seat,
  words: { action: AuditAction; summary: (member: Member) => string; details?: Record<string, unknown> },
): Promise<Member> {
  const { team_id } = team;
  if (await readMember(ctx, team_id, userId)) throw conflict('Already a member of this team');
  if ((await run(ctx.db, lockPerson, [userId])).length === 0) throw notFound('User');
  await Membership.query(ctx.db).insert({ team_id, user_id: userId, role });
  await run(ctx.db, closeInvitations, [team_id, userId]);
  const member = (await readMember(ctx, team_id, userId)) as Member;
  await recordChange(ctx, {
    team_id,
    feature: 'teams',
    action: words.action,
    severity: 'MEDIUM',
    entity_type: 'team',
    entity_id: team_id,
    title: team.name,
    summary: words.summary(member),
    details: { user_id: userId, role, ...words.details },
    event: { type: 'team.member_added', payload: { member } },
  });
  await assignExpected(ctx, team_id, userId);
  return member;
}
