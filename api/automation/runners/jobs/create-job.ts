import { findSecretHandles } from '../../language/template.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { JobRecord } from '../record/job-schema.js';
import { storeJob } from '../record/store-job.js';
import type { CreateJob } from '../schema.js';

/**
 * Queues a job for the runners of a team. Only an automation can give a job secrets.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | INVALID_REQUEST it refers to a secret | RESOURCE_CONFLICT too
 * many jobs have not ended
 */
export async function createRunnerJob(ctx: Context, input: CreateJob): Promise<JobRecord> {
  const { team_id, command, labels, timeout_minutes } = input;
  // Before any lock: strangers make nobody wait.
  authorize('runner_job.write', await seatInTeam(ctx, team_id));
  const env = input.env ?? {};
  const [handle] = findSecretHandles({ command, env });
  if (handle !== undefined) {
    throw invalid('A job that is queued manually cannot use secrets', {
      detail: 'Use an automation with the action dispatch_runner_job, which an admin has saved.',
    });
  }
  const pieces = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, [value]]));
  return inTransaction(ctx, (ctx) => storeJob(ctx, { team_id, command, env: pieces, labels, timeout_minutes }));
}
