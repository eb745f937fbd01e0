import { TeamSecret } from '../../../db/models/automation/team-secret.js';
import { dispatchRunnerJob } from '../actions/dispatch-runner-job.js';
import { secretHandles } from '../actions/secret-handles.js';
import { isAllowed, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { forbidden } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';

type Actions = readonly { type: string; params?: unknown }[];

/** Returns why a role may not save, start or take over these jobs for runners: any command needs a manager, one with a secret an admin. */
function forbiddenJob(seat: Seat | null, jobs: Actions): string | undefined {
  if (jobs.length === 0 || isAllowed('secret.use_anywhere', seat)) return undefined;
  const [secret] = secretHandles(jobs);
  if (secret !== undefined) return `A runner’s job would hold the secret ${secret}: requires the admin role in the team`;
  return isAllowed('runner_job.write', seat) ? undefined : 'A job for a runner requires the manager role in the team';
}

/**
 * Returns why the caller may not save, start or take over a definition, beyond the rules for any automation; undefined if they may. A
 * secret without allowed hosts could be sent anywhere, so only a team admin may use it; a job runs any command on the team's machines.
 * Inside a transaction, the caller's role is locked until the commit. `teamId` null: a personal automation, which has neither.
 */
export async function findForbiddenAction(ctx: Context, teamId: string | null, actions: Actions): Promise<string | undefined> {
  if (teamId === null) return undefined;
  const names = secretHandles(actions);
  const jobs = actions.filter(({ type }) => type === dispatchRunnerJob.type);
  if (names.length === 0 && jobs.length === 0) return undefined;
  const seat = await findSeat(ctx, teamId);
  if (isAllowed('secret.use_anywhere', seat)) return undefined;
  const unrestricted = await TeamSecret.query(ctx.db)
    .where({ team_id: teamId, allowed_hosts: '{}' })
    .whereIn('name', names)
    .orderBy('name')
    .select('name')
    .first();
  if (unrestricted) return `The secret ${unrestricted.name} has no allowed hosts: requires the admin role in the team`;
  return forbiddenJob(seat, jobs);
}

/**
 * Rejects a caller who may not save, start, replay or take over a definition because of an action in it. The action checks hosts and
 * roles again when it runs. Call it after the caller's role is checked for the automation itself, because the error may name a secret.
 * @throws PERMISSION_DENIED
 */
export async function assertActionsAllowed(ctx: Context, teamId: string | null, actions: Actions): Promise<void> {
  const reason = await findForbiddenAction(ctx, teamId, actions);
  if (reason !== undefined) throw forbidden(reason);
}
