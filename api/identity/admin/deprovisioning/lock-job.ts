import { defineStatement, run } from '../../../../db/statement.js';
import type { Actor } from '../../../platform/access/actor.js';
import { type Context, type Services, serviceContext } from '../../../platform/context.js';

export interface LockedJob extends Record<string, unknown> {
  job_id: string;
  user_id: string;
  display_name: string;
  reassign_to: string | null;
  requested_by: string | null;
  requester_email: string | null;
  correlation_id: string;
  finished_at: Date | null;
}

/** $1 = job id. */
const statement = defineStatement({
  name: 'lock_deprovision_job',
  text: /* sql */ `
    select j.job_id, j.user_id, u.display_name, j.reassign_to, j.requested_by, r.email as requester_email, j.correlation_id, j.finished_at
    from deprovision_jobs j join users u using (user_id) left join users r on r.user_id = j.requested_by
    where j.job_id = $1 for no key update of j`,
});

/**
 * Locks an unfinished job until the commit, so that concurrent workflow executions take turns. Returns undefined if there is
 * nothing to do.
 */
export async function lockJob(db: Services['db'], jobId: string): Promise<LockedJob | undefined> {
  const [job] = await run<LockedJob>(db, statement, [jobId]);
  return job?.finished_at === null ? job : undefined;
}

/** Returns a context of the service on behalf of the requesting administrator, under the id of that request. */
export function jobContext(services: Services, { requested_by, requester_email, correlation_id }: LockedJob): Context {
  const ctx = serviceContext(services, 'operator', correlation_id);
  if (requested_by === null) return ctx;
  const actor: Actor = { type: 'job', userId: requested_by, email: requester_email as string, role: 'admin' };
  return { ...ctx, actor };
}
