/**
 * Once per test run: one PostgreSQL (fast, not durable) with a migrated template database, one Temporal dev server, one workflow bundle,
 * the published document. Test files find them in the environment: ASSENT_TEST_PG_URL (database `postgres`, may create databases),
 * ASSENT_TEST_TEMPLATE (name of the template), ASSENT_TEST_TEMPORAL_ADDRESS (host:port), ASSENT_TEST_BUNDLE and ASSENT_TEST_DOCUMENT (paths).
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { build, bundlePath } from '../../scripts/build.mjs';
import { StartError } from '../../scripts/embedded/errors.mjs';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { clearLeftovers, startPostgres } from '../../scripts/embedded/postgres.mjs';
import { ROLE } from '../../scripts/embedded/postgres-cluster.mjs';
import { serviceUser, temporaryParent } from '../../scripts/embedded/postgres-files.mjs';
import { looksLike, signal, startMark } from '../../scripts/embedded/processes.mjs';
import { root } from '../../scripts/embedded/settings.mjs';
import { startTemporal, stopOrphan } from '../../scripts/embedded/temporal.mjs';
import { obtainCli } from '../../scripts/embedded/temporal-cli.mjs';

const run = promisify(execFile);
const TEMPLATE = 'assent_template';
const PREFIX = 'assent-test-';

export default async function setup() {
  const parent = temporaryParent(serviceUser());
  await removeAbandoned(parent);
  const base = mkdtempSync(join(parent, PREFIX));
  chmodSync(base, 0o711);
  writeFileSync(join(base, 'owner.json'), JSON.stringify({ pid: process.pid, mark: startMark(process.pid) }), { mode: 0o600 });
  const servers = { base, postgres: null, temporal: null };
  globalThis.assentTestServers = servers;
  stopWhenInterrupted(servers);
  try {
    const outcomes = await Promise.allSettled([startDatabase(servers), startWorkflows(servers), build()]);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    await Promise.all([makeTemplate(servers.postgres.adminUrl, base), writeDocument(documentOf(base))]);
  } catch (error) {
    await stopServers(servers);
    throw readable(error);
  }
  process.env.ASSENT_TEST_PG_URL = servers.postgres.adminUrl;
  process.env.ASSENT_TEST_TEMPLATE = TEMPLATE;
  process.env.ASSENT_TEST_TEMPORAL_ADDRESS = servers.temporal.address;
  process.env.ASSENT_TEST_BUNDLE = bundlePath;
  process.env.ASSENT_TEST_DOCUMENT = documentOf(base);
}

const documentOf = (base) => join(base, 'document.json');

async function startDatabase(servers) {
  const { base } = servers;
  servers.postgres = await startPostgres({ base, port: await anyFreePort(), log: join(base, 'postgres.log'), mode: 'test' });
  await shortenLogins(servers.postgres.adminUrl);
}

/** Attempts: between the look for free ports and the start, another process of a busy machine may take one. */
const TEMPORAL_STARTS = 3;

async function startWorkflows(servers, tries = TEMPORAL_STARTS) {
  const { base } = servers;
  const cli = await obtainCli((line) => process.stderr.write(`  ${line}\n`));
  const ports = { grpc: await anyFreePort(), http: await anyFreePort(), metrics: await anyFreePort(), ui: null };
  const [data, log] = [join(base, 'temporal'), join(base, 'temporal.log')];
  try {
    servers.temporal = await startTemporal({ cli: cli.path, base: data, log, mode: 'test', ports });
  } catch (error) {
    if (tries === 1) throw error;
    await startWorkflows(servers, tries - 1);
  }
}

/** Logs a role in with one round of SCRAM instead of 4,096: thousands of connections are opened, each for milliseconds. */
async function shortenLogins(adminUrl) {
  await query(adminUrl, `SET scram_iterations = 1; ALTER ROLE ${ROLE} PASSWORD '${new URL(adminUrl).password}'`);
}

/** Creates and migrates the database that each test file clones, and closes it: a template with sessions cannot be cloned. */
async function makeTemplate(adminUrl, base) {
  await query(adminUrl, `CREATE DATABASE ${TEMPLATE}`);
  const url = new URL(adminUrl);
  url.pathname = `/${TEMPLATE}`;
  const env = { ...process.env, NODE_ENV: 'test', DATABASE_URL: url.href, DATA_DIR: base };
  await run(process.execPath, ['--enable-source-maps', join(root, 'dist', 'scripts', 'migrate.js')], { cwd: root, env });
  await query(adminUrl, `ALTER DATABASE ${TEMPLATE} IS_TEMPLATE true ALLOW_CONNECTIONS false`);
}

/** Clients must take fields that are not in the document; our own answers must have none, so here its objects are closed. */
const closed = (_key, value) =>
  typeof value === 'object' && value !== null && 'properties' in value && !('additionalProperties' in value)
    ? { ...value, additionalProperties: false }
    : value;

/** Writes the published document, with every object closed: it takes a second, which no test file needs to spend again. */
async function writeDocument(file) {
  await run(process.execPath, [join(root, 'dist', 'scripts', 'openapi.js'), file], { cwd: root });
  writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), closed));
}

async function query(url, statement) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * Stops what was started and removes the run's directory.
 * @param {{base: string, postgres: {stop: () => Promise<void>} | null, temporal: {stop: () => Promise<void>} | null}} servers
 */
export async function stopServers(servers) {
  await Promise.all([servers.postgres?.stop(), servers.temporal?.stop(500)]);
  removeRun(servers.base);
}

/** Removes a run's directory, and the cluster if it had to live elsewhere. */
function removeRun(base) {
  const note = join(base, 'postgres.json');
  if (existsSync(note)) rmSync(join(JSON.parse(readFileSync(note, 'utf8')).cluster, '..'), { recursive: true, force: true });
  rmSync(base, { recursive: true, force: true });
}

/** Jest runs no teardown on Ctrl-C: nothing of a test run is worth a clean shutdown, but nothing may stay behind either. */
function stopWhenInterrupted(servers) {
  for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(name, () => {
      for (const server of [servers.temporal, servers.postgres]) if (server) signal(server.pid, 'SIGQUIT');
      removeRun(servers.base);
      process.exit(code);
    });
  }
}

/** Stops the servers of runs that were killed, and removes their directories. */
async function removeAbandoned(parent) {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const base = join(parent, name);
    const owner = readOwner(base);
    if (!owner || (looksLike(owner.pid, ['node']) && startMark(owner.pid) === owner.mark)) continue;
    await clearLeftovers(join(base, 'postgres'));
    await stopOrphan(join(base, 'temporal'));
    removeRun(base);
  }
}

/** Returns the creator of a run's directory; null if it is foreign. */
function readOwner(base) {
  try {
    if (process.getuid && statSync(base).uid !== process.getuid()) return null;
    return JSON.parse(readFileSync(join(base, 'owner.json'), 'utf8'));
  } catch {
    return null;
  }
}

/** Jest prints the message only: put cause, log and cures into it. */
function readable(error) {
  if (error instanceof StartError) {
    return new Error(
      [error.message, ...error.log.map((line) => `    | ${line}`), ...error.cures.map((cure) => `  -> ${cure}`)].join('\n'),
    );
  }
  return error.stderr ? new Error(`The test database could not be migrated:\n${error.stderr}`) : error;
}
