import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MetricsSource, Readiness } from '../../platform/telemetry/ops-server.js';

/** What serves the API: this process, or several that it started. */
export interface Serving {
  port: number;
  readiness: Readiness;
  metrics: MetricsSource;
  /** Takes no new connections, lets what is under way end for at most 10 s, and closes the pools. */
  drain: () => Promise<void>;
}

/** Listens; returns the port. @throws Error if the address is taken */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** How long an idle connection stays open, ms; responses tell clients so. A balancer in front must not close it earlier. */
export const KEEP_ALIVE_MS = 65_000;
