/** Settings that a start gives to API, worker and commands. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundlePath } from '../build.mjs';
import { StartError } from './errors.mjs';
import { root } from './settings.mjs';

/** Rejects production, where the embedded servers would have demo data and no backups. */
export function refuseProduction(env) {
  if (env.NODE_ENV !== 'production' || (env.DATABASE_URL && env.TEMPORAL_ADDRESS)) return;
  throw new StartError('NODE_ENV=production, but npm start would run an embedded PostgreSQL and Temporal.', [
    'For production use docker-compose.yml: docs/operate/install.md tells how.',
    'Or set DATABASE_URL and TEMPORAL_ADDRESS; or leave NODE_ENV unset to develop.',
  ]);
}

/**
 * Settings of API, worker and commands; the environment takes precedence, except over decisions of this start.
 * @param {string} dir data directory
 */
export function serviceEnv(dir, ports, database, temporal) {
  return {
    NODE_ENV: process.env.NODE_ENV ?? 'development',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: process.env.TEMPORAL_NAMESPACE || 'default',
    ...(temporal.uiUrl ? { TEMPORAL_UI_URL: temporal.uiUrl } : {}),
    ...(ports.temporal ? { TEMPORAL_UI_PORT: String(ports.temporal.ui) } : {}),
    PORT: String(ports.api),
    METRICS_PORT: String(ports.metrics),
    WORKER_METRICS_PORT: String(ports.workerMetrics),
    BASE_URL: process.env.BASE_URL || `http://localhost:${ports.api}`,
    DATA_DIR: dir,
    WORKFLOW_BUNDLE: bundlePath,
    // The demo's receiver runs on this machine.
    ...(process.env.NODE_ENV === 'production'
      ? {}
      : {
          OUTBOUND_LOOPBACK: process.env.OUTBOUND_LOOPBACK ?? 'allow',
          WEBHOOK_ALLOWED_HOSTS: process.env.WEBHOOK_ALLOWED_HOSTS ?? '127.0.0.1,localhost',
        }),
  };
}

/** Validates the settings like API and worker before any server starts, so an invalid one leaves nothing half done. */
export async function checkSettings(dir, ports) {
  const database = { url: process.env.DATABASE_URL || 'postgres://127.0.0.1/assent' };
  const temporal = { address: process.env.TEMPORAL_ADDRESS || '127.0.0.1:7233', uiUrl: null };
  const { loadConfig } = await import(pathToFileURL(join(root, 'dist', 'api', 'platform', 'config.js')).href);
  try {
    loadConfig({ ...process.env, ...serviceEnv(dir, ports, database, temporal) });
  } catch (error) {
    const [cause, ...problems] = error.message.split('\n');
    throw new StartError(cause, 'Mend them in the environment or in .env; .env.example explains each.', problems);
  }
}
