import type { Services } from '../../../platform/context.js';
import { SharedListener } from '../../../platform/database/shared-listener.js';
import { defineStatement } from '../../../../db/statement.js';
import { type QueuedJob, WaitingRunners } from './waiting-runners.js';

/** Channel of the database's notifications. */
const CHANNEL = 'runner_jobs';
/** Interval in ms of the look for jobs that no notification told of. */
const SWEEP_MS = 5_000;

/** $1 = team ids. Their oldest queued jobs. */
const queuedStatement = defineStatement({
  name: 'queued_runner_jobs',
  text: /* sql */ `
    select j.job_id, t.team_id, j.labels from unnest($1::uuid[]) t(team_id) cross join lateral (
      select job_id, labels from runner_jobs q where q.team_id = t.team_id and q.status = 'queued' order by q.queued_at limit 100
    ) j`,
});

/** One for each database of this process. */
const waitingByRunner = new Map<string, WaitingRunners>();

function listen(url: string): WaitingRunners {
  const waiting: WaitingRunners = new WaitingRunners({
    open: (log) => listener.open(log),
    closeSoon: () => listener.closeSoon(),
  });
  const listener = new SharedListener({
    url,
    channel: CHANNEL,
    name: 'assent-job-listener',
    sweepMs: SWEEP_MS,
    onNotification: (payload) => waiting.announce(JSON.parse(payload) as QueuedJob),
    isIdle: () => waiting.teamIds().length === 0,
    async look(client) {
      const { rows } = await client.query<QueuedJob>({ ...queuedStatement, values: [waiting.teamIds()] });
      for (const job of rows) waiting.announce(job);
    },
  });
  return waiting;
}

/** Returns the runners of this process that wait for jobs. */
export function waitingRunners({ config }: Pick<Services, 'config'>): WaitingRunners {
  const known = waitingByRunner.get(config.DATABASE_URL);
  if (known) return known;
  const waiting = listen(config.DATABASE_URL);
  waitingByRunner.set(config.DATABASE_URL, waiting);
  return waiting;
}

/** Answers every runner that waits: this process stops, and the runners ask another one. */
export function stopWaitingRunners(): void {
  for (const waiting of waitingByRunner.values()) waiting.stop();
}
