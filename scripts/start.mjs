/** `npm start`: everything the service needs, from a fresh clone to one screen with its addresses. `npm run dev` is the same with --watch. */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build } from './build.mjs';
import { createSteps, screen } from './embedded/display.mjs';
import { printFailure, StartError } from './embedded/errors.mjs';
import { ensureInstalled } from './embedded/install.mjs';
import { clearLeftovers, startPostgres } from './embedded/postgres.mjs';
import { clusterDir, makeDataDir, serviceUser } from './embedded/postgres-files.mjs';
import { endChildren, startMark, track } from './embedded/processes.mjs';
import { anyFreePort } from './embedded/ports.mjs';
import { claim, parseKind, release, stopOrphanServices, writeState } from './embedded/run-state.mjs';
import { checkSettings, refuseProduction, serviceEnv } from './embedded/service-env.mjs';
import { createUnit, startService, waitReady } from './embedded/services.mjs';
import { checkNode, choosePorts, dataDir, loadEnvFile, root } from './embedded/settings.mjs';
import { reachTemporal, startTemporal, stopOrphan } from './embedded/temporal.mjs';
import { obtainCli } from './embedded/temporal-cli.mjs';
import { watchSources } from './embedded/watch.mjs';

const run = promisify(execFile);
const began = Date.now();
/** Number of processes of a kind: `--api 2 --workers 2`. */
const parseCount = (flag) => (process.argv.includes(flag) ? Number(process.argv[process.argv.indexOf(flag) + 1]) : 1);
const options = {
  watch: process.argv.includes('--watch'),
  json: process.argv.includes('--json'),
  /** Ends with the process that holds the other end of its standard input, also when that is killed. */
  attached: process.argv.includes('--attached'),
  api: parseCount('--api'),
  workers: parseCount('--workers'),
};
const steps = createSteps({ stream: options.json ? process.stderr : process.stdout });
const { step, say } = steps;
/** Time limit of each process after Ctrl-C, ms; about three seconds in all. */
const GRACE = { api: 900, worker: 900, temporal: 2_500, postgres: 2_500 };
/** Two signals this close are one Ctrl-C: npm forwards a signal that the terminal has already sent. */
const SAME_SIGNAL_MS = 400;

const context = {
  dir: '',
  log: (name) => join(context.dir, 'logs', `${name}.log`),
  units: {},
  env: {},
  ready: false,
  stopping: false,
};

/** Writes the running processes to run.json, for other commands and a later start. */
function record() {
  if (context.stopping) return;
  const processes = Object.fromEntries(
    Object.values(context.units).flatMap((unit) => (unit.record() ? [[unit.name, unit.record()]] : [])),
  );
  writeState(context.dir, { pid: process.pid, mark: startMark(process.pid), ready: context.ready, processes, env: context.env });
}

function addUnit(name, label, start) {
  const unit = createUnit({ name, label, log: context.log(name), start, say, changed: record });
  context.units[name] = unit;
  return unit.start();
}

/** All processes of a kind: `api`, `api-2` and so on. */
const listUnits = (kind) => Object.values(context.units).filter(({ name }) => parseKind(name) === kind);

/** Stops processes that a killed start left behind. */
async function clearOrphans({ dir }) {
  const services = await stopOrphanServices(dir);
  const [temporal, postgres] = await Promise.all([
    stopOrphan(join(dir, 'temporal')),
    process.env.DATABASE_URL ? false : clearLeftovers(clusterDir(dir, serviceUser())),
  ]);
  const names = [...services, temporal && 'Temporal', postgres && 'PostgreSQL'].filter(Boolean);
  if (names.length > 0) say(`an earlier start was killed: stopped its ${names.join(', ')}`);
}

async function startDatabase(port) {
  if (port === null) return { url: process.env.DATABASE_URL, version: null };
  let facts = null;
  await addUnit('postgres', 'PostgreSQL', async () => {
    facts = await startPostgres({ base: context.dir, port, log: context.log('postgres'), mode: 'durable' });
    return facts;
  });
  return facts;
}

async function startWorkflowServer(ports) {
  if (ports === null) return reachTemporal(process.env);
  const cli = await obtainCli(say, steps.still);
  let facts = null;
  await addUnit('temporal', 'Temporal', async () => {
    facts = await startTemporal({
      cli: cli.path,
      base: join(context.dir, 'temporal'),
      log: context.log('temporal'),
      mode: 'durable',
      ports,
    });
    return facts;
  });
  return facts;
}

async function migrate() {
  const demo = context.env.NODE_ENV === 'production' ? [] : ['--seed-demo'];
  const args = ['--enable-source-maps', join(root, 'dist', 'scripts', 'migrate.js'), ...demo];
  const running = run(process.execPath, args, { cwd: root, env: { ...process.env, ...context.env }, maxBuffer: 1 << 24 });
  track(running.child);
  await running.catch((error) => {
    const lines = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-20);
    const cures = process.env.DATABASE_URL
      ? [
          'DATABASE_URL names this database: mend it in the environment or in .env, or leave it unset for one that npm start runs.',
        ]
      : ['Start over with fresh demo data: npm run reset', `PostgreSQL's log: ${context.log('postgres')}`];
    throw new StartError('The database could not be migrated.', cures, lines);
  });
}

function addService(name, label, file, settings = {}) {
  const env = { ...process.env, ...context.env, ...settings };
  return addUnit(name, label, (spawned) => startService({ label, file, log: context.log(name), env, spawned }));
}

/** The first API and worker use the default names and ports; further ones use free ports. */
async function startServices(metricsPort) {
  const [more, moreWorkers] = [options.api, options.workers].map((count) => Array.from({ length: count - 1 }, (_, i) => i + 2));
  const others = await Promise.all(more.map(async (nth) => ({ nth, port: await anyFreePort(), metrics: await anyFreePort() })));
  if (others.length > 0) {
    context.env.API_URLS = [context.env.PORT, ...others.map(({ port }) => port)].map((port) => `http://127.0.0.1:${port}`).join();
  }
  await all([
    step('Worker', () => addService('worker', 'The worker', 'dist/activities/worker.js')),
    ...moreWorkers.map((nth) =>
      step(`Worker ${nth}`, () =>
        addService(`worker-${nth}`, `Worker ${nth}`, 'dist/activities/worker.js', { WORKER_METRICS_PORT: '0' }),
      ),
    ),
    step('API', () => addService('api', 'The API', 'dist/api/server.js').then(() => waitReady(metricsPort))),
    ...others.map(({ nth, port, metrics }) =>
      step(`API ${nth}`, () =>
        addService(`api-${nth}`, `API ${nth}`, 'dist/api/server.js', { PORT: String(port), METRICS_PORT: String(metrics) }),
      ),
    ),
  ]);
}

async function startAll() {
  checkNode();
  loadEnvFile();
  refuseProduction(process.env);
  makeDataDir(dataDir());
  context.dir = realpathSync(dataDir());
  claim(context.dir);
  context.claimed = true;
  if (await ensureInstalled({ output: options.json ? 2 : 'inherit' })) say('dependencies installed');
  await clearOrphans(context);
  const { ports, moved } = await choosePorts(process.env);
  for (const line of moved) say(line);

  await step('Build', build, ({ compiled }) => (compiled ? '' : 'up to date'));
  await checkSettings(context.dir, ports);
  const [database, temporal] = await all([
    step(
      'PostgreSQL',
      () => startDatabase(ports.postgres),
      ({ version }) => version ?? 'from DATABASE_URL',
    ),
    step(
      'Temporal',
      () => startWorkflowServer(ports.temporal),
      ({ address }) => address,
    ),
  ]);
  context.env = serviceEnv(context.dir, ports, database, temporal);
  await step(context.env.NODE_ENV === 'production' ? 'Database migrated' : 'Database migrated, demo data in', migrate);
  await startServices(ports.metrics);
  context.ready = true;
  record();
  return { ports, database, temporal };
}

/** Waits for every step, then throws the first error, so that nothing is still starting during cleanup. */
async function all(promises) {
  const outcomes = await Promise.allSettled(promises);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return outcomes.map(({ value }) => value);
}

function collectFacts({ ports, database, temporal }) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const base = context.env.BASE_URL;
  const url = new URL(database.url);
  const { accounts, password, token } = JSON.parse(readFileSync(new URL('./embedded/demo-facts.json', import.meta.url), 'utf8'));
  const dir = relative(root, context.dir).startsWith('..') ? context.dir : `./${relative(root, context.dir)}`;
  return {
    name,
    version,
    ready_ms: Date.now() - began,
    app: `${base}/app`,
    api: `${base}/api`,
    docs: { swagger: `${base}/api/docs`, redoc: `${base}/api/redoc`, openapi: `${base}/api/openapi.json` },
    mailbox: context.env.NODE_ENV === 'production' || process.env.MAIL_URL ? null : `${base}/dev/mailbox`,
    ops: `http://localhost:${ports.metrics}`,
    temporal_ui: temporal.uiUrl,
    temporal_address: temporal.address,
    database: `postgres://${url.username && `${url.username}@`}${url.host}${url.pathname}`,
    password_file: ports.postgres === null ? null : `${dir}/postgres-password`,
    postgres_version: database.version,
    data_dir: dir,
    demo: context.env.NODE_ENV === 'production' ? null : { accounts, password, token },
  };
}

/** Rebuilds and restarts our processes. After a failed build the old code keeps running. */
async function reload(files) {
  try {
    const since = Date.now();
    const { compiled } = await build();
    if (!compiled || context.stopping) return;
    if (files.some((file) => file.startsWith('db'))) await migrate();
    await Promise.all(['worker', 'api'].flatMap((kind) => listUnits(kind).map((unit) => unit.restart(GRACE[kind]))));
    say(
      `${files[0]}${files.length > 1 ? ` and ${files.length - 1} more` : ''} changed: rebuilt and restarted in ${((Date.now() - since) / 1000).toFixed(1)} s`,
    );
  } catch (error) {
    printFailure(error);
    say('still watching: save to try again');
  }
}

/** Stops the processes in order, clients before servers. */
async function stopAll() {
  context.stopping = true;
  // All at once: a second Ctrl-C also kills those whose turn has not come.
  for (const unit of Object.values(context.units)) unit.expectEnd();
  for (const kind of ['api', 'worker', 'temporal', 'postgres'])
    await Promise.all(listUnits(kind).map((unit) => unit.stop(GRACE[kind])));
  await endChildren(1_000);
  // Released last: while something may still run, the next start must be able to find it.
  if (context.claimed) release(context.dir);
}

function onSignal() {
  let first = 0;
  let killing = false;
  const handle = async () => {
    if (first && Date.now() - first < SAME_SIGNAL_MS) return;
    if (first) {
      killing = true;
      await endChildren(0);
      process.exit(130);
    }
    first = Date.now();
    steps.end();
    say('stopping (Ctrl-C again to kill)');
    await stopAll();
    // After a kill the ordered stop also finishes, but it was not clean.
    if (killing) return;
    say(`stopped cleanly (${((Date.now() - first) / 1000).toFixed(1)} s)`);
    process.exit(0);
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => void handle());
  if (options.attached) process.stdin.once('end', () => context.stopping || void handle()).resume();
}

/** A bug must not leave servers behind; a closed terminal or pipe (`npm start | head`) must not end anything. */
function guard() {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error) => {
    printFailure(error);
    void stopAll().finally(() => process.exit(1));
  });
}

guard();
onSignal();
try {
  const facts = collectFacts(await startAll());
  steps.end();
  if (options.json) process.stdout.write(`${JSON.stringify(facts)}\n`);
  else for (const line of screen(facts)) steps.line(line);
  if (options.watch) {
    watchSources(reload);
    say('watching the sources');
  }
} catch (error) {
  // An interrupted start fails in some step; the signal handler ends the process.
  if (!context.stopping) {
    steps.end();
    await stopAll();
    printFailure(error);
    process.exit(1);
  }
}
