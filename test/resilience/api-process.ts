import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import type { TestApp } from '../support/app.js';

export interface ApiProcess {
  url: string;
  /** Of /livez and /readyz. */
  opsUrl: string;
  child: ChildProcess;
  /** Its log so far, one line a request. */
  log: () => string;
  /** Sends the stop signal and waits for the end; returns the exit code. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Ends whatever a failed test has left; for afterAll. */
export function killApiProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Environment of an API process over the app's database and secrets; `settings` win. */
export const buildApiEnv = (app: TestApp, settings: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: 'development',
  DATABASE_URL: app.database.url,
  DATA_DIR: app.services.config.DATA_DIR,
  LOG_LEVEL: 'info',
  PORT: '0',
  RATE_LIMIT_FORGE_WEBHOOK: '100000',
  ...settings,
});

/** The real API process over the app's database and secrets; `settings` win. `stdout`: where its log goes instead of to `log()`. */
export async function startApiProcess(
  app: TestApp,
  settings: Record<string, string> = {},
  stdout: 'pipe' | number = 'pipe',
): Promise<ApiProcess> {
  const metricsPort = await anyFreePort();
  const env = buildApiEnv(app, { METRICS_PORT: String(metricsPort), ...settings });
  const child = spawn(process.execPath, [join(process.cwd(), 'dist/api/server.js')], {
    env,
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const lines: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${metricsPort}`,
    child,
    log: () => Buffer.concat(lines).toString(),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const closed = once(child, 'close') as Promise<[number | null]>;
      child.kill(signal);
      return (await closed)[0];
    },
  };
}
