import { createServer, type Server } from 'node:http';
import type { Knex } from 'knex';
import { findSchemaProblem, readSchemaState } from '../../../db/schema/check-schema.js';
import { type Check, checkWorkers } from './check-workers.js';
import { metrics } from './metrics.js';

async function checkDatabase(db: Knex): Promise<{ postgres: Check; migrations: Check }> {
  try {
    // Looked at each time: during an upgrade the schema changes under running processes.
    const problem = findSchemaProblem(await readSchemaState(db));
    return { postgres: { ok: true }, migrations: problem === null ? { ok: true } : { ok: false, detail: problem } };
  } catch {
    return { postgres: { ok: false }, migrations: { ok: false, detail: 'unknown' } };
  }
}

/**
 * Returns readiness: PostgreSQL responds and the migrations are complete. Temporal and the worker are reported but not required,
 * because records and decisions work without them.
 */
export async function readiness(db: Knex): Promise<{ ready: boolean; checks: Record<string, Check> }> {
  const { postgres, migrations } = await checkDatabase(db);
  const reported = postgres.ok ? await checkWorkers(db) : { worker: { ok: false, alive: 0 }, temporal: { ok: false } };
  return { ready: postgres.ok && migrations.ok, checks: { postgres, migrations, ...reported } };
}

/** Reports whether the process is ready, with the checks behind it. */
export type Readiness = () => Promise<{ ready: boolean; checks: Record<string, unknown> }>;

/** Metrics in the text format of Prometheus. */
export type MetricsSource = () => Promise<string>;

/** Metrics of this process. */
export const ownMetrics: MetricsSource = () => metrics.metrics();

/** Returns all metrics. Omits a source that fails; alerts cover missing series. */
async function allMetrics(sources: readonly MetricsSource[]): Promise<string> {
  const parts = await Promise.allSettled(sources.map((source) => source()));
  return parts.map((part) => (part.status === 'fulfilled' ? `${part.value.trimEnd()}\n` : '')).join('');
}

/**
 * Creates the server of `/livez`, `/readyz` and `/metrics`, on a separate, unpublished port. `sources`: of the metrics.
 */
export function createOpsServer(readinessNow: Readiness, sources: readonly MetricsSource[]): Server {
  return createServer((request, response) => {
    const send = (status: number, type: string, body: string) => response.writeHead(status, { 'Content-Type': type }).end(body);
    const json = (status: number, body: unknown) => send(status, 'application/json', JSON.stringify(body));
    const serve = async (): Promise<unknown> => {
      if (request.url === '/livez') return json(200, { alive: true });
      if (request.url === '/metrics') return send(200, metrics.contentType, await allMetrics(sources));
      if (request.url !== '/readyz') return json(404, { error: 'not found' });
      const state = await readinessNow();
      return json(state.ready ? 200 : 503, state);
    };
    serve().catch(() => json(500, { error: 'internal' }));
  });
}
