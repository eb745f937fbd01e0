import { Team } from '../../../../db/models/team.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import type { JobRecord } from './job-schema.js';
import { type NewJob, storeJob } from './store-job.js';

/** The job of one attempt of a step of a run. */
export interface StepJob extends Omit<NewJob, 'step'> {
  step: { run_id: string; index: number; attempt: number; depth: number };
}

/** $1 = run id, $2 = index, $3 = attempt. */
const findStatement = defineStatement({
  name: 'runner_job_of_step',
  text: /* sql */ `
    select runner_job_json(j) as job, j.output from runner_jobs j
    where j.run_id = $1 and j.action_index = $2 and j.action_attempt = $3`,
});

/** $1 = run id. The people behind a run. */
const causesStatement = defineStatement({
  name: 'people_behind_run',
  text: 'select array_remove(people_of_run($1), null) as user_ids',
});

interface JobWithOutput extends Record<string, unknown> {
  job: JobRecord;
  output: string | null;
}

async function find({ db }: Context, { run_id, index, attempt }: StepJob['step']): Promise<JobWithOutput | undefined> {
  const [found] = await run<JobWithOutput>(db, findStatement, [run_id, index, attempt]);
  return found;
}

/**
 * Returns the job of an attempt of a step, and queues it if there is none yet, as the automation's creator. May be repeated: an attempt has
 * one job, also if the worker died in between.
 * @throws RESOURCE_NOT_FOUND the team is gone | PERMISSION_DENIED the creator is no manager | RESOURCE_CONFLICT too many jobs have not ended
 */
export async function jobOfStep(ctx: Context, { step, ...job }: StepJob): Promise<{ job: JobRecord; output: string | null }> {
  const known = await find(ctx, step);
  if (known) return known;
  return inTransaction(ctx, async (ctx) => {
    // Calls for the same attempt come one after the other; the later one finds the job.
    await Team.query(ctx.db).findById(job.team_id).forNoKeyUpdate();
    const meanwhile = await find(ctx, step);
    if (meanwhile) return meanwhile;
    const [behind] = await run<{ user_ids: string[] }>(ctx.db, causesStatement, [step.run_id]);
    const stored = await storeJob(ctx, { ...job, step: { ...step, cause_user_ids: behind?.user_ids ?? [] } });
    return { job: stored, output: null };
  });
}
