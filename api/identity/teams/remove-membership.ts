import { Membership } from '../../../db/models/membership.js';
import type { Team } from '../../../db/models/team.js';
import { recordChange } from '../../platform/changes/record-change.js';
import type { Context } from '../../platform/context.js';
import type { Member } from './schema.js';
import { runTeamData } from './team-data.js';

/**
 * Removes a member from a team that the caller locked (lockTeam) and records it. Also reassigns their open tasks to `successor` (a
 * member, or null), revokes their invitations and pending approvals, discards their plans for the team, disables their automations, removes
 * the team's items from their sessions with the agent, and deletes the views that they saved and the registration tokens of runners. Returns the number of tasks.
 * See docs/decisions/identity.md#removed-members.
 */
export async function removeMembership(
  ctx: Context,
  team: Team,
  member: Member,
  { summary, successor = null }: { summary: string; successor?: string | null },
): Promise<number> {
  const { team_id, name } = team;
  const { user_id, role } = member;
  const departing = { team_id, user_id, successor };
  await runTeamData(ctx, 'lockForMember', departing);
  // Writers lock the membership FOR KEY SHARE until they commit: after this lock none of them can still assign tasks or act by it.
  const membership = (await Membership.query(ctx.db).findById([team_id, user_id]).forUpdate()) as Membership;
  await membership.$query(ctx.db).delete();
  const counts = Object.entries(await runTeamData(ctx, 'onMemberRemoved', departing));
  await recordChange(ctx, {
    team_id,
    feature: 'teams',
    action: 'remove_member',
    severity: 'MEDIUM',
    entity_type: 'team',
    entity_id: team_id,
    title: name,
    summary,
    details: { user_id, role, ...Object.fromEntries(counts.filter(([, count]) => count > 0)) },
    event: { type: 'team.member_removed', payload: { member } },
  });
  const { tasks = 0 } = await runTeamData(ctx, 'afterMemberRemoved', departing);
  return tasks;
}
