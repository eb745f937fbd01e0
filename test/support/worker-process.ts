import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestApp } from './app.js';

/** The real worker process over the app's database, once Temporal names it as a poller; for those who want to kill it. `settings` win. */
export async function startWorkerProcess(app: TestApp, settings: Record<string, string> = {}): Promise<ChildProcess> {
  const { config } = app.services;
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    DATABASE_URL: app.database.url,
    DATA_DIR: config.DATA_DIR,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    TASK_QUEUE_PREFIX: config.TASK_QUEUE_PREFIX,
    MAINTENANCE_SCHEDULES: config.MAINTENANCE_SCHEDULES,
    WORKFLOW_BUNDLE: config.WORKFLOW_BUNDLE,
    OUTBOUND_LOOPBACK: config.OUTBOUND_LOOPBACK,
    WORKER_METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const child = spawn(process.execPath, [join(process.cwd(), 'dist/activities/worker.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return child;
}
