/** Settings of the commands that start or find the service: directories, the .env file, ports. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from './errors.mjs';
import { anyFreePort, choosePort } from './ports.mjs';

/** The checkout's directory. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

const OLDEST_NODE = [20, 19];

/** Refuses a Node that the dependencies do not run on. */
export function checkNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new StartError(`Node ${version} is too old: this project needs ${OLDEST_NODE.join('.')} or newer.`, [
    'Install a current Node from https://nodejs.org, or with a version manager: nvm install 24',
  ]);
}

/** Reads `.env` when there is one; what the environment already says wins. Empty values count as unset. */
export function loadEnvFile() {
  const file = join(root, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
  for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'DATA_DIR', 'NODE_ENV']) {
    if (process.env[name] === '') delete process.env[name];
  }
}

/** DATA_DIR as an absolute path; a relative one counts from the checkout. */
export const dataDir = (env = process.env) => resolve(root, env.DATA_DIR || '.data');

/**
 * @typedef {object} Ports
 * @property {number} api
 * @property {number} metrics
 * @property {number} workerMetrics
 * @property {number | null} postgres null when DATABASE_URL is set
 * @property {{grpc: number, http: number, metrics: number, ui: number} | null} temporal null when TEMPORAL_ADDRESS is set
 */

/** Ports of a start that sets none; those of the metrics come so far behind others. */
const USUAL_PORTS = { PORT: 3000, PG_PORT: 15_432, TEMPORAL_PORT: 7233, TEMPORAL_UI_PORT: 8233 };
const METRICS_AFTER_PORT = 1000;
const WORKER_METRICS_AFTER_METRICS = 1;

/**
 * The ports that a start tries first, by the names of their settings.
 * @param {Record<string, string | undefined>} env
 * @returns {Record<string, number>}
 */
export function wantedPorts(env) {
  const wanted = { ...USUAL_PORTS };
  for (const name of Object.keys(wanted)) wanted[name] = Number(env[name] || wanted[name]);
  wanted.METRICS_PORT = Number(env.METRICS_PORT || wanted.PORT + METRICS_AFTER_PORT);
  wanted.WORKER_METRICS_PORT = Number(env.WORKER_METRICS_PORT || wanted.METRICS_PORT + WORKER_METRICS_AFTER_METRICS);
  return wanted;
}

/**
 * Chooses every port of a start.
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<{ports: Ports, moved: string[]}>} `moved`: one sentence for each port that is not the usual one
 */
export async function choosePorts(env) {
  const taken = new Set();
  const moved = [];
  const usual = wantedPorts({});
  const choose = async (name, fallback = usual[name], leader = null) => {
    const { port, movedFrom } = await choosePort({ name, fallback, env, taken });
    if (movedFrom !== null) moved.push(`port ${movedFrom} is taken, ${name} is ${port}`);
    else if (!env[name] && port !== usual[name]) moved.push(`${name} follows ${leader}: ${port} instead of ${usual[name]}`);
    return port;
  };
  const api = await choose('PORT');
  const postgres = env.DATABASE_URL ? null : await choose('PG_PORT');
  const temporal = env.TEMPORAL_ADDRESS
    ? null
    : {
        grpc: await choose('TEMPORAL_PORT'),
        ui: await choose('TEMPORAL_UI_PORT'),
        http: await anyFreePort(),
        metrics: await anyFreePort(),
      };
  const metrics = await choose('METRICS_PORT', api + METRICS_AFTER_PORT, 'PORT');
  const workerMetrics = await choose('WORKER_METRICS_PORT', metrics + WORKER_METRICS_AFTER_METRICS, 'METRICS_PORT');
  return { ports: { api, metrics, workerMetrics, postgres, temporal }, moved };
}
