import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { type RunningWorker, startWorker } from '../../activities/worker/start-worker.js';
import { startApp, type TestApp } from './app.js';

/** A prefix for the task queues of a test file: many files share one Temporal server. */
export const queuePrefix = (): string => `t${randomBytes(5).toString('hex')}-`;

/** Temporal's runtime, quiet. The test files of one process share it (runtime.cjs), and it ends by itself when nobody uses it. */
export function quietRuntime(): void {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  } catch (error) {
    if (!/already been installed/.test(String(error))) throw error;
  }
}

/** The whole worker in this process, over the app's database; resolves when Temporal names it as a poller. */
export async function runWorker(app: TestApp): Promise<RunningWorker> {
  quietRuntime();
  const { config, log, tracer } = app.services;
  return new Promise((resolve) => {
    const worker = startWorker(config, log, () => resolve(worker), tracer);
  });
}

/** Starts an application with its worker on task queues of its own, and a client that sees its workflows; `end` stops all of them. */
export async function startWithWorker() {
  const app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  const worker = await runWorker(app);
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const end = async (): Promise<void> => {
    await worker.stop();
    await connection.close();
    await app.close();
  };
  return { app, worker, temporal: new Client({ connection }), end };
}

/** Pauses between two looks, ms: a tenth of the time waited, so that a long wait costs few looks and grows by a tenth at most. */
const pauseAfter = (waited: number): number => Math.min(100, Math.max(10, waited / 10));

/** Waits until `look` gives something, at most `ms`: as long as a test may take, since how fast a machine is proves nothing. */
export async function until<T>(look: () => Promise<T | undefined | false | null>, ms = 100_000): Promise<T> {
  const since = Date.now();
  for (;;) {
    const found = await look();
    if (found) return found;
    const waited = Date.now() - since;
    if (waited > ms) throw new Error('It did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(waited)));
  }
}

/** Waits until a run of an automation has one of these states, and returns its row. @throws Error when it does not get there in time */
export const untilRunIs = (app: TestApp, { automation_id }: { automation_id: string }, ...statuses: string[]) =>
  until(() => app.services.db('automation_runs').where({ automation_id }).whereIn('status', statuses).first());
