import type { Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { findRecipients } from '../../work/notifications/find-recipients.js';
import { notifyUsers } from '../../work/notifications/notify-users.js';
import { readMember } from './read-members.js';

/**
 * Tells users whom the caller has added to a team who did it, in the app and by email, with a link to leave. Suspended users are omitted.
 */
export async function notifyAdded(
  ctx: Context,
  team: { team_id: string; name: string },
  userIds: readonly string[],
  role: Seat,
): Promise<void> {
  if (userIds.length === 0) return;
  const people = await findRecipients(ctx, { teamId: team.team_id, userIds });
  const adder = ctx.actor.type === 'system' ? undefined : await readMember(ctx, team.team_id, requireUser(ctx));
  const by = adder?.display_name ?? 'An administrator';
  const notice = {
    kind: 'member_added' as const,
    title: 'You were added to a team',
    message: `${by} added you to the team “${team.name}” as ${role}. If you did not expect it, leave the team on its page.`,
    mailMessage: `You were added to a team as ${role}. If you did not expect it, leave the team on its page.`,
    details: [`Team: ${team.name}`, `Added by: ${by}`],
    team_id: team.team_id,
    run_id: null,
    path: `/app/teams/${team.team_id}#leave` as const,
  };
  await notifyUsers(ctx, people, notice, ['in_app', 'email']);
}
