import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';

/** Longest that the SDK may take to answer, ms: it is asked in this process. */
const PATIENCE_MS = 1_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/**
 * Installs Temporal's runtime with its metrics, all named `temporal_…`, in seconds. The SDK serves them itself, on a loopback port that
 * nobody else need know: the function returned reads them there, so that one address of ours serves everything.
 */
export async function installRuntime(options: RuntimeOptions): Promise<() => Promise<string>> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  const prometheus = { bindAddress, useSecondsForDurations: true, unitSuffix: true };
  Runtime.install({ ...options, telemetryOptions: { ...options.telemetryOptions, metrics: { prometheus } } });
  return async () => {
    const answer = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return answer.text();
  };
}
