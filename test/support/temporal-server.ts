import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { startTemporal, type Temporal } from '../../scripts/embedded/temporal.mjs';
import { obtainCli } from '../../scripts/embedded/temporal-cli.mjs';

export interface TemporalServer {
  address: string;
  /** kill -9; its data stay. */
  kill: () => Promise<void>;
  /** Starts it again on its data, at the same address. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

/** A Temporal server of the test's own, which it may kill: all other test files share one. */
export async function startOwnTemporal(): Promise<TemporalServer> {
  const dir = mkdtempSync(join(tmpdir(), 'assent-own-temporal-'));
  const cli = await obtainCli(() => undefined);
  const ports = { grpc: await anyFreePort(), http: await anyFreePort(), metrics: await anyFreePort(), ui: null };
  let running: Temporal | undefined;
  const start = async (): Promise<void> => {
    running = await startTemporal({ cli: cli.path, base: join(dir, 'data'), log: join(dir, 'log'), mode: 'test', ports });
  };
  const kill = async (): Promise<void> => {
    if (!running) return;
    process.kill(running.pid, 'SIGKILL');
    await running.exited;
    running = undefined;
  };
  const interrupted = (): void => void (running && process.kill(running.pid, 'SIGKILL'));
  process.once('exit', interrupted);
  await start();
  return {
    address: `127.0.0.1:${ports.grpc}`,
    kill,
    restart: start,
    async stop() {
      await kill();
      process.off('exit', interrupted);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
