import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { makeTelemetryFilterString, Runtime, type RuntimeOptions } from '@temporalio/worker';

/** Timeout of the SDK's response in ms; the SDK runs in this process. */
const TIMEOUT_MS = 1_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/**
 * Installs Temporal's runtime, which logs through `options.logger`, with its metrics, all named `temporal_…`, in seconds. The SDK serves them on a private loopback
 * port; the returned function reads them there, so that our own endpoint serves all metrics.
 */
export async function installRuntime(options: RuntimeOptions): Promise<() => Promise<string>> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  const prometheus = { bindAddress, useSecondsForDurations: true, unitSuffix: true };
  // Without `forward` the SDK's core prints lines of its own, colored and not as JSON.
  const logging = { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) };
  Runtime.install({ ...options, telemetryOptions: { logging, metrics: { prometheus } } });
  return async () => {
    const answer = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return answer.text();
  };
}
