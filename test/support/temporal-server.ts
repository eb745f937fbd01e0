import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { startTemporal, type Temporal } from '../../scripts/embedded/temporal.mjs';
import { obtainCli } from '../../scripts/embedded/temporal-cli.mjs';

export interface TemporalServer {
  address: string;
  /** kill -9; its data stay. */
  kill: () => Promise<void>;
  /** Starts it again on its data, at the same address, unless it runs. */
  restart: () => Promise<void>;
  /** Deletes its data. It must have been killed. */
  empty: () => void;
  /** Copies its data; returns what puts the copy in their place. It must have been killed, each time. */
  backUp: () => () => void;
  stop: () => Promise<void>;
}

/** A Temporal server of the test's own, which it may kill: all other test files share one. */
export async function startOwnTemporal(): Promise<TemporalServer> {
  const dir = mkdtempSync(join(tmpdir(), 'assent-own-temporal-'));
  const cli = await obtainCli(() => undefined);
  const ports = { grpc: await anyFreePort(), http: await anyFreePort(), metrics: await anyFreePort(), ui: null };
  const data = join(dir, 'data');
  let running: Temporal | undefined;
  const start = async (): Promise<void> => {
    running ??= await startTemporal({ cli: cli.path, base: data, log: join(dir, 'log'), mode: 'test', ports });
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
  const empty = (): void => rmSync(data, { recursive: true, force: true });
  return {
    address: `127.0.0.1:${ports.grpc}`,
    kill,
    restart: start,
    empty,
    backUp() {
      const copy = join(dir, 'copy');
      cpSync(data, copy, { recursive: true });
      return () => {
        empty();
        cpSync(copy, data, { recursive: true });
      };
    },
    async stop() {
      await kill();
      process.off('exit', interrupted);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
