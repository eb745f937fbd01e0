/** Launcher for the embedded Temporal dev server: starts it tuned, waits for truth, registers search attributes, stops it. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';
import { anyFreePort } from './ports.mjs';
import { howItEnded, logSize, looksLike, spawnLogged, stopPid, tail } from './processes.mjs';

const run = promisify(execFile);
const NAMESPACE = 'default';
const RETENTION = `${72 * 3600}s`;
const READY_MS = 60_000;
const HTTP_MS = 2_000;

/** Custom search attributes as `{name, type}`, in the order in which a cluster short of slots gets them. */
const searchAttributes = JSON.parse(readFileSync(new URL('./search-attributes.json', import.meta.url), 'utf8'));

/**
 * @typedef {object} Temporal
 * @property {string} address gRPC, host:port
 * @property {string | null} uiUrl
 * @property {number} pid
 * @property {Promise<{code: number | null, signal: string | null, error: Error | null}>} exited
 * @property {(graceMs?: number) => Promise<void>} stop
 */

/**
 * Starts the dev server on 127.0.0.1 and returns when its frontend answers for the namespace (the Web UI answers before that).
 * @param {{cli: string, base: string, log: string, mode: 'durable' | 'test',
 *   ports: {grpc: number, http: number, metrics: number, ui: number | null}}} options `base`: directory of its data (made
 *   private); `ui: null` starts without the Web UI
 * @returns {Promise<Temporal>}
 * @throws {StartError} with the cause and a cure
 */
export async function startTemporal({ cli, base, log, mode, ports }) {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const { pidFile } = buildPaths(base);
  await stopOrphan(base);
  const child = await launch({ cli, base, log, mode, ports });
  const address = `127.0.0.1:${ports.grpc}`;
  await Promise.all([ensureSearchAttributes(cli, address, ports.http), raiseRetention(ports.http)]);
  return {
    address,
    uiUrl: ports.ui === null ? null : `http://localhost:${ports.ui}`,
    pid: child.pid,
    exited: child.exited,
    stop: async (graceMs = 5_000) => {
      await stopPid(child.pid, [
        ['SIGINT', graceMs],
        ['SIGKILL', 1_000],
      ]);
      rmSync(pidFile, { force: true });
    },
  };
}

/**
 * The default server polls its transfer queue 20 times a second and has eager activities off; both were measured to matter, and the new
 * matcher ends rare stalls of two seconds. Fairness takes what waits in a queue from each team in turn.
 */
const DYNAMIC_CONFIG = [
  'system.enableActivityEagerExecution=true',
  'history.transferProcessorMaxPollRPS=200',
  'matching.useNewMatcher=true',
  'matching.enableFairness=true',
];

/** Arguments of the launch. Without the two pragmas SQLite syncs fully at each commit: a third of the throughput. */
function launchLine({ db, mode, ports }) {
  const pragmas = ['journal_mode=WAL', `synchronous=${mode === 'test' ? 'OFF' : 'NORMAL'}`];
  const flags = [
    ['--ip', '127.0.0.1'],
    ['--port', ports.grpc],
    ['--http-port', ports.http],
    ['--metrics-port', ports.metrics],
    ports.ui === null ? ['--headless'] : ['--ui-port', ports.ui],
    ['--db-filename', db],
    ['--log-level', 'error'],
    ...pragmas.map((pragma) => ['--sqlite-pragma', pragma]),
    ...DYNAMIC_CONFIG.map((value) => ['--dynamic-config-value', value]),
    ...searchAttributes.map(({ name, type }) => ['--search-attribute', `${name}=${type}`]),
  ];
  return ['server', 'start-dev', ...flags.flat().map(String)];
}

/** Attempts of a start that fails at a port that nobody named. */
const LAUNCHES = 3;

/**
 * Starts the server and waits until it is ready. For its inner services it looks for free ports of its own, and those of its HTTP API and metrics
 * were free when they were drawn; another process may take one before it does. Then it is started again, with others, which `ports` has then.
 */
async function launch({ cli, base, log, mode, ports }, tries = LAUNCHES) {
  const { db, pidFile } = buildPaths(base);
  const from = logSize(log);
  const child = spawnLogged(cli, launchLine({ db, mode, ports }), { log, env: serverEnv(), cwd: base });
  if (child.pid) writeFileSync(pidFile, `${child.pid}\n`, { mode: 0o600 });
  const outcome = await Promise.race([child.exited, readiness(child, ports.http)]);
  if (outcome === 'ready') return child;
  if (child.pid) await stopPid(child.pid, [['SIGKILL', 1_000]]);
  const lines = tail(log, 12, from);
  if (tries > 1 && lostDrawnPort(lines, ports)) {
    Object.assign(ports, { http: await anyFreePort(), metrics: await anyFreePort() });
    return launch({ cli, base, log, mode, ports }, tries - 1);
  }
  throw explain(outcome, lines, db);
}

/**
 * True when the server failed at a port that nobody named to it.
 * @param {string[]} lines of its log
 * @param {{grpc: number, ui: number | null}} ports those that people name
 */
function lostDrawnPort(lines, { grpc, ui }) {
  const lost = /listen tcp \S*:(\d+): bind: address already in use/i.exec(lines.join('\n'));
  return lost !== null && ![grpc, ui].includes(Number(lost[1]));
}

/** Removes the caller's TEMPORAL_* settings, which are for clients and would affect the server's command. */
function serverEnv() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

const buildPaths = (base) => ({ db: join(base, 'temporal.db'), pidFile: join(base, 'temporal.pid') });

/**
 * Stops a dev server that an earlier start left behind on the same data.
 * @param {string} base the directory of its data; its database's path is how its command line is recognised
 * @returns {Promise<boolean>} true when there was one
 */
export async function stopOrphan(base) {
  const { db, pidFile } = buildPaths(base);
  if (!existsSync(pidFile)) return false;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  const orphan = pid > 0 && looksLike(pid, ['start-dev', db]);
  if (
    orphan &&
    !(await stopPid(pid, [
      ['SIGINT', 4_000],
      ['SIGKILL', 2_000],
    ]))
  ) {
    throw new StartError(
      `An older Temporal server (process ${pid}) still runs on ${db} and does not stop.`,
      `Stop it: kill -9 ${pid}`,
    );
  }
  rmSync(pidFile, { force: true });
  return orphan;
}

async function readiness(child, httpPort) {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const answer = await http(httpPort, 'GET', `/api/v1/namespaces/${NAMESPACE}`).catch(() => null);
    if (answer) return 'ready';
    await sleep(25);
  }
  return child.exitCode !== null || child.signalCode !== null ? child.exited : 'timeout';
}

/** `--search-attribute` does not reach a database file made before the attribute was added: create what is missing. */
async function ensureSearchAttributes(cli, address, httpPort) {
  const { customAttributes } = await http(httpPort, 'GET', `/api/v1/namespaces/${NAMESPACE}/search-attributes`);
  for (const { name, type } of searchAttributes.filter((attribute) => !(attribute.name in (customAttributes ?? {})))) {
    const target = ['--address', address, '--namespace', NAMESPACE];
    await run(cli, ['operator', 'search-attribute', 'create', '--name', name, '--type', type, ...target], { env: serverEnv() });
  }
}

/** Raises the namespace's retention of closed runs from 24 h to three days, enough for a weekend. */
async function raiseRetention(httpPort) {
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  const { config } = await http(httpPort, 'GET', path);
  if (config?.workflowExecutionRetentionTtl === RETENTION) return;
  await http(httpPort, 'POST', `${path}/update`, { config: { workflowExecutionRetentionTtl: RETENTION } });
}

/** Calls Temporal's HTTP API; rejects any status but 200. */
function http(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, timeout: HTTP_MS, agent: false };
    const sent = request({ ...options, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`Temporal answered ${response.statusCode} to ${method} ${path}: ${text.slice(0, 300)}`));
      });
    });
    sent.once('timeout', () => sent.destroy(new Error('timeout')));
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Turns the end of a failed start into cause and cure. */
function explain(outcome, lines, db) {
  const text = lines.join('\n');
  const how = outcome === 'timeout' ? 'not ready in time' : howItEnded(outcome);
  const or = 'Or set TEMPORAL_ADDRESS to a running Temporal.';
  if (/address already in use/i.test(text)) {
    return new StartError(
      'Temporal did not start: one of its ports is taken.',
      ['Choose another TEMPORAL_PORT and TEMPORAL_UI_PORT.', or],
      lines,
    );
  }
  if (/malformed|not a database|disk image|no such table|schema version/i.test(text)) {
    return new StartError(
      `Temporal did not start: ${db} is damaged or of another version.`,
      [
        `Move it away: mv ${db} ${db}.old   (the service re-creates what it needs from PostgreSQL)`,
        'Or start over with fresh demo data: npm run reset',
      ],
      lines,
    );
  }
  return new StartError(`Temporal did not start (${how}).`, ['See what is wrong with this machine: npm run doctor', or], lines);
}

/**
 * Tries the user's own Temporal, for which the worker would wait for a minute in vain.
 * @param {Record<string, string | undefined>} env with TEMPORAL_ADDRESS, host:port
 * @returns {Promise<{address: string, uiUrl: string | null}>}
 * @throws {StartError} without an answer
 */
export async function reachTemporal({ TEMPORAL_ADDRESS: address, TEMPORAL_UI_URL: uiUrl = null }) {
  const why = await new Promise((resolve) => {
    const url = URL.canParse(`tcp://${address}`) ? new URL(`tcp://${address}`) : null;
    if (!url?.hostname || !url.port) return resolve('it is not host:port');
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port), timeout: 10_000 });
    const end = (problem) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end('no answer within 10 s'));
    return socket.once('error', ({ code }) => end(code));
  });
  if (why === null) return { address, uiUrl };
  throw new StartError(`Temporal does not answer at TEMPORAL_ADDRESS=${address} (${why}).`, [
    'Start it, or correct TEMPORAL_ADDRESS in the environment or in .env.',
    'Or leave TEMPORAL_ADDRESS unset: npm start then runs a Temporal of its own.',
  ]);
}
