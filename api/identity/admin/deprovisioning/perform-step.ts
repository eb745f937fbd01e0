import type { DeprovisionResult, DeprovisionStepName } from '../../../../workflows/contract.js';
import { inTransaction, type Services, serviceContext } from '../../../platform/context.js';
import { lockJob, jobContext } from './lock-job.js';
import { STEPS } from './steps.js';

/**
 * Performs one step of a deprovisioning. Its changes and its row commit together, so it happens once however often it is retried.
 * Returns its result, even if it was done before.
 */
export function performStep(
  services: Services,
  step: DeprovisionStepName,
  jobId: string,
  teamId: string | null,
): Promise<DeprovisionResult> {
  return inTransaction(serviceContext(services, 'deprovisioning'), async ({ db }) => {
    const job = await lockJob(db, jobId);
    const key = { job_id: jobId, step, team_id: teamId };
    const done = await db('deprovision_steps').where(key).first<{ result: DeprovisionResult } | undefined>('result');
    if (done || !job) return done?.result ?? {};
    const result = await STEPS[step](jobContext({ ...services, db }, job), job, teamId);
    await db('deprovision_steps').insert({ ...key, result: JSON.stringify(result), done_at: db.raw('clock_timestamp()') });
    return result;
  });
}
