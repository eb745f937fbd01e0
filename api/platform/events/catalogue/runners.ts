import { stored } from '../declare.js';
import { changed, Changes, RunnerJob, TEAM } from './shapes.js';

const JOB = {
  job_id: '0197a000-0000-7000-8000-000000000011',
  team_id: TEAM,
  runner_id: '0197a000-0000-7000-8000-000000000012',
  runner_name: 'build-1',
  run_id: null,
  status: 'failed',
  labels: ['linux'],
  exit_code: 2,
  error: null,
};

export const runnerEvents = {
  'runner.job_finished': stored({
    payload: { job: RunnerJob, changes: Changes },
    trigger: 'A runner’s job ends, however it ends',
    past: 'A job of a runner ended',
    webhook: 'A job of a runner ended, however it ended',
    sample: { project_id: null, actor_id: null, job: JOB, ...changed('status', 'running', 'failed') },
  }),
};
