import type { MetricsSource, Readiness } from '../../platform/telemetry/ops-server.js';

/** What serves the API: this process, or several that it started. */
export interface Serving {
  port: number;
  readiness: Readiness;
  metrics: MetricsSource;
  /** Takes no new connections, lets what is under way end for at most 10 s, and closes the pools. */
  drain: () => Promise<void>;
}

/** How long an idle connection stays open, ms; responses tell clients so. A balancer in front must not close it earlier. */
export const KEEP_ALIVE_MS = 65_000;
