import type { Services } from '../api/platform/context.js';
import { jobDispatchesStatement } from '../api/automation/runners/jobs/dispatch-jobs.sql.js';
import { settleJob } from '../api/automation/runners/jobs/settle-job.js';
import {
  JOB_CHANGED_SIGNAL,
  RUNNER_JOB,
  type RunnerJobActivities,
  type RunnerJobInput,
  runnerJobWorkflowId,
} from '../workflows/contracts/runner-contract.js';
import { defineRowWorkflow } from './row-workflow.js';

/** An outbox row that starts or wakes the workflow of a job; the columns of the job are null if it was deleted. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  job_id: string;
  team_id: string;
  is_open: boolean;
  created_by: string | null;
  run_id: string | null;
}

/** The jobs of runners. */
export const runnerJobs = defineRowWorkflow<Row, { job_id: string }>({
  notes: [
    {
      process: 'runner_job',
      workflowId: 'job:<job_id>',
      shows: 'Jobs of runners that wait or run; `RunState="queued"` for those without a runner',
    },
  ],
  invariants: [
    {
      name: 'jobs_timed',
      words: 'No open job has been without an open workflow for more than 60 s',
      sql: /* sql */ `
        select job_id::text as violation from runner_jobs
        where finished_at is null and queued_at < clock_timestamp() - interval '60 seconds' order by job_id`,
      buildWorkflowId: runnerJobWorkflowId,
    },
  ],
  activities: {
    core: (services: Services): RunnerJobActivities => ({ settleRunnerJob: (jobId) => settleJob(services, jobId) }),
  },
  plural: 'runner jobs',
  kinds: ['runner.job'],
  dispatches: jobDispatchesStatement,
  workflow: RUNNER_JOB,
  getId: ({ job_id }) => runnerJobWorkflowId(job_id),
  input: ({ job_id }): RunnerJobInput => ({ jobId: job_id }),
  attributes: (row) => ({
    RunState: 'queued',
    TeamId: row.team_id,
    EntityId: row.job_id,
    TriggerType: row.run_id ? 'automation' : 'manual',
    ActorId: row.created_by,
  }),
  summary: ({ run_id }) => (run_id ? 'Runner job of a run' : 'Runner job'),
  details: ({ job_id, team_id, run_id }) => [
    `Job \`${job_id}\` of team \`${team_id}\``,
    ...(run_id ? [`Run \`run:${run_id}\` waits for it`] : []),
  ],
  fairnessKey: ({ team_id }) => team_id,
  deliver: ({ is_open }) => ({ start: is_open, signal: JOB_CHANGED_SIGNAL }),
  wake: { signal: JOB_CHANGED_SIGNAL },
  table: {
    name: 'runner_jobs',
    rows: 'runner_jobs',
    key: 'job_id',
    where: 'r.finished_at is null',
    copies: ['team_id', 'correlation_id'],
  },
});
