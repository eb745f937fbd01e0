import { DeprovisionStepRow } from '../../../../db/models/identity/deprovision-job.js';
import type { DeprovisionResult, DeprovisionStepName } from '../../../../workflows/contracts/deprovision-contract.js';
import { Team } from '../../../../db/models/team.js';
import { disableUserAutomations } from '../../../automation/definitions/ownership/disable-automations.js';
import type { Seat } from '../../../platform/access/access.js';
import type { AuditAction } from '../../../platform/changes/audit-actions.js';
import type { Context } from '../../../platform/context.js';
import { endConnections } from '../../../integrations/connections/end-connections.js';
import { readMember } from '../../teams/read-members.js';
import { removeMembership } from '../../teams/remove-membership.js';
import { runTeamData } from '../../teams/team-data.js';
import { revokeUserTokens } from '../../tokens/revoke-user-tokens.js';
import { endSessions } from '../../auth/sessions/end-session.js';
import { recordAdminAction } from '../record-admin-action.js';
import { askOthers } from './ask-others.js';
import type { LockedJob } from './lock-job.js';

const ofPerson = async (
  ctx: Context,
  { job_id, user_id }: LockedJob,
  action: AuditAction,
  result: DeprovisionResult,
): Promise<DeprovisionResult> => {
  await recordAdminAction(ctx, action, user_id, { job_id, ...result });
  return result;
};

/** Removes the membership; open tasks go to the successor if they are a member, otherwise become unassigned. */
async function leaveTeam(ctx: Context, job: LockedJob, teamId: string | null): Promise<DeprovisionResult> {
  const team = await Team.query(ctx.db)
    .findById(teamId as string)
    .forNoKeyUpdate();
  const member = team && (await readMember(ctx, team.team_id, job.user_id));
  if (!team || !member) return { tasks: 0, role: null, successor: null };
  const heir = job.reassign_to && (await readMember(ctx, team.team_id, job.reassign_to));
  const successor = heir ? job.reassign_to : null;
  const tasks = await removeMembership(ctx, team, member, {
    summary: `removed ${member.display_name}, who was deprovisioned`,
    successor,
  });
  return { tasks, role: member.role, successor };
}

async function seatLeft({ db }: Context, { job_id }: LockedJob, teamId: string | null): Promise<Seat | null> {
  const left = await DeprovisionStepRow.query(db).findOne({ job_id, step: 'leaveTeam', team_id: teamId }).select('result');
  return (left?.result['role'] ?? null) as Seat | null;
}

/** Steps by the name of their activity. Each runs in one transaction with the row that marks it done. */
export const STEPS: Record<
  DeprovisionStepName,
  (ctx: Context, job: LockedJob, teamId: string | null) => Promise<DeprovisionResult>
> = {
  revokeTokens: async (ctx, job) =>
    ofPerson(ctx, job, 'revoke_tokens', {
      tokens: await revokeUserTokens(ctx, job.user_id),
      connections: (await endConnections(ctx, job.user_id, null)).length,
    }),
  endSessions: async (ctx, job) =>
    ofPerson(ctx, job, 'end_sessions', {
      sessions: await endSessions(ctx, job.user_id),
      ...(await runTeamData(ctx, 'onPersonRemoved', job.user_id)),
    }),
  // The request disables them and is this step; only jobs that older versions requested still need it.
  deactivateAutomations: async (ctx, job) => ({
    automations: await disableUserAutomations(ctx, job.user_id, null, 'has been deprovisioned'),
  }),
  leaveTeam,
  async askOthers(ctx, job, teamId) {
    const seat = await seatLeft(ctx, job, teamId);
    return { asked: seat === null ? 0 : await askOthers(ctx, teamId as string, seat) };
  },
};
