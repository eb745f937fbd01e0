import { v7 as uuidv7 } from 'uuid';
import type { TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

/** A job that ended a moment ago, with a log; `fields` may give it another state. */
export async function buildRunnerJob(
  app: TestApp,
  { team_id, manager }: TestTeam,
  fields: Record<string, unknown> = {},
  log = 'done\n',
): Promise<string> {
  const { db } = app.services;
  const now = new Date();
  const job_id = uuidv7();
  const row = {
    status: 'failed',
    command: 'make',
    env: '{}',
    labels: ['linux'],
    timeout_minutes: 60,
    created_by: manager.user_id,
  };
  const times = { queued_at: now, claimed_at: now, finished_at: now };
  const log_size = Buffer.byteLength(log);
  await db('runner_jobs').insert({
    job_id,
    team_id,
    ...row,
    ...times,
    correlation_id: uuidv7(),
    log_size,
    log_received: log_size,
    ...fields,
  });
  await db('runner_job_logs').insert({ job_id, offset: 0, position: 0, text: log });
  return job_id;
}
