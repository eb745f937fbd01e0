import { DeprovisionJob, DeprovisionStepRow } from '../../../../db/models/identity/deprovision-job.js';
import { Membership } from '../../../../db/models/membership.js';
import type { Team } from '../../../../db/models/team.js';
import { User } from '../../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { loseRequestRights } from '../../../gate/requests/decide/close-requests.js';
import { voidApprovals } from '../../../automation/runs/approvals/void-approvals.js';
import { disableUserAutomations, lockUserAutomations } from '../../../automation/definitions/ownership/disable-automations.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import { enqueue } from '../../../platform/outbox/outbox.js';
import { changeLockedRole } from '../../teams/change-role.js';
import { createMembership } from '../../teams/create-membership.js';
import { lockTeam } from '../../teams/lock-team.js';
import { notifyAdded } from '../../teams/notify-added.js';
import { hasOtherAdmin } from '../../teams/require-another-admin.js';
import { lockRemovableUser } from '../lock-user.js';
import { recordAdminAction } from '../record-admin-action.js';
import type { Deprovision, JobRef } from './schema.js';

/** $1 = user id. */
const teamsStatement = defineStatement({
  name: 'list_live_teams_of_user',
  text: /* sql */ `
    select team_id from memberships where user_id = $1 and team_id in (select team_id from teams where deleted_at is null) order by team_id`,
});

/** @throws INVALID_REQUEST unknown or inactive user */
async function checkSuccessor(ctx: Context, userId: string, successor: string): Promise<void> {
  // Locked until the commit: the successor cannot be removed concurrently.
  const known = await User.query(ctx.db).findOne({ user_id: successor, status: 'active' }).forShare().select('user_id');
  if (!known || successor === userId) throw invalid('reassign_to must be another active user');
}

/** Locks the user's teams in a fixed order and returns those that would be left without an admin. */
async function teamsWithoutAdmin(ctx: Context, userId: string): Promise<Team[]> {
  const orphans: Team[] = [];
  for (const { team_id } of await run<{ team_id: string }>(ctx.db, teamsStatement, [userId])) {
    const team = await lockTeam(ctx, team_id);
    const seat = await Membership.query(ctx.db).findById([team_id, userId]);
    if (seat?.role === 'admin' && !(await hasOtherAdmin(ctx, team_id, userId))) orphans.push(team);
  }
  return orphans;
}

async function promoteToAdmin(ctx: Context, team: Team, successor: string): Promise<void> {
  const seat = await Membership.query(ctx.db).findById([team.team_id, successor]).forUpdate();
  const words = { action: 'add_member' as const, summary: () => 'made the successor of a leaving admin an admin' };
  if (seat) return changeLockedRole(ctx, team, seat, 'admin');
  await createMembership(ctx, team, successor, 'admin', words);
  await notifyAdded(ctx, team, [successor], 'admin');
}

/** @throws RESOURCE_CONFLICT the last admin of a team, without a successor */
async function settleTeams(ctx: Context, userId: string, successor: string | null): Promise<string[]> {
  const orphans = await teamsWithoutAdmin(ctx, userId);
  const ids = orphans.map(({ team_id }) => team_id);
  if (orphans.length > 0 && successor === null) {
    throw conflict('Last admin of a team: set reassign_to', { detail: `Teams without another admin: ${ids.join(', ')}` });
  }
  for (const team of orphans) await promoteToAdmin(ctx, team, successor as string);
  return ids;
}

/**
 * Deprovisions a user. From this commit on nobody can sign in as them, and no team lacks an admin; a workflow does the rest step by
 * step. A repetition returns the same job.
 * @throws RESOURCE_NOT_FOUND | RESOURCE_CONFLICT oneself, the last administrator, the last admin of a team without reassign_to |
 * INVALID_REQUEST reassign_to
 */
export function requestDeprovision(ctx: Context, userId: string, { reason, reassign_to }: Deprovision): Promise<JobRef> {
  return inTransaction(ctx, async (ctx) => {
    // Lock order: automations before accounts, as in saving an automation (docs/decisions/platform.md#lock-order).
    await lockUserAutomations(ctx, userId, null);
    const user = await lockRemovableUser(ctx, userId);
    // Read under the lock, so one of many concurrent requests creates the job.
    const known = await DeprovisionJob.query(ctx.db).findOne({ user_id: userId }).select('job_id', 'status');
    if (known) return { job_id: known.job_id, status: known.status };
    if (user.status === 'deprovisioned') throw conflict('User is deprovisioned');
    // Nobody can add them to a team from here on (create-membership.ts locks the user FOR KEY SHARE).
    await User.query(ctx.db).findById(userId).forUpdate().select('user_id');
    const successor = reassign_to ?? null;
    if (successor !== null) await checkSuccessor(ctx, userId, successor);
    const inherited = await settleTeams(ctx, userId, successor);
    await User.query(ctx.db).findById(userId).patch({ status: 'deprovisioned' });
    const voided = { ...(await voidApprovals(ctx, userId)), ...(await loseRequestRights(ctx, userId)) };
    const disabled = await lockUserAutomations(ctx, userId, null);
    const { job_id, status } = await DeprovisionJob.query(ctx.db)
      .insert({
        user_id: userId,
        reassign_to: successor,
        reason,
        requested_by: ctx.actor.type === 'system' ? null : ctx.actor.userId,
        correlation_id: ctx.correlationId,
      })
      .returning(['job_id', 'status']);
    await enqueue(ctx, 'user.deprovision', userId, { job_id });
    await recordAdminAction(ctx, 'deprovision', userId, {
      job_id,
      reason,
      reassign_to: successor,
      inherited_teams: inherited,
      ...voided,
      ...disabled,
    });
    const automations = await disableUserAutomations(ctx, userId, null, 'has been deprovisioned');
    // The job's first step is done with the request: performed later, it would count none.
    const step = { job_id, step: 'deactivateAutomations' as const, team_id: null };
    await DeprovisionStepRow.query(ctx.db).insert({ ...step, result: { automations } });
    return { job_id, status };
  });
}
