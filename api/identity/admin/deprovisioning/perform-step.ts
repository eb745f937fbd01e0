import { DeprovisionStepRow } from '../../../../db/models/identity/deprovision-job.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { DeprovisionResult, DeprovisionStepName } from '../../../../workflows/contracts/deprovision-contract.js';
import { inTransaction, type Services, serviceContext } from '../../../platform/context.js';
import { lockJob, jobContext } from './lock-job.js';
import { STEPS } from './steps.js';

/** $1 = job id, $2 = step, $3 = team id or null, $4 = result. `done_at` is when the step ends, not when its transaction began. */
const insertStep = defineStatement({
  name: 'insert_deprovision_step',
  text: /* sql */ `
    insert into deprovision_steps (job_id, step, team_id, result, done_at) values ($1, $2, $3, $4, clock_timestamp())`,
});

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
    const done = await DeprovisionStepRow.query(db).findOne({ job_id: jobId, step, team_id: teamId }).select('result');
    if (done || !job) return done?.result ?? {};
    const result = await STEPS[step](jobContext({ ...services, db }, job), job, teamId);
    await run(db, insertStep, [jobId, step, teamId, JSON.stringify(result)]);
    return result;
  });
}
