/** `npm run doctor`: looks at what the service needs from this machine. One line each: ok, warn or FAIL with a cure; exit code 1 on a FAIL. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StartError } from './embedded/errors.mjs';
import { isInstalled } from './embedded/install.mjs';
import { isFree } from './embedded/ports.mjs';
import { findBinaries, isMusl, serviceUser } from './embedded/postgres-files.mjs';
import { leftBehind, runningState } from './embedded/run-state.mjs';
import { checkNode, dataDir, loadEnvFile, root, wantedPorts } from './embedded/settings.mjs';
import { cachedCliPath, findCli } from './embedded/temporal-cli.mjs';

/** Oldest major version of Node that its project still mends. */
const SUPPORTED_NODE = 22;
const MIN_FREE_BYTES = 2 * 1024 ** 3;
/** A delivery is late when its first attempt is this many seconds overdue. The alert waits five minutes. */
const LATE_SECONDS = 60;
const ok = (text) => ({ state: 'ok', text });
const warn = (text, cure) => ({ state: 'warn', text, cure });
const fail = (text, cure) => ({ state: 'FAIL', text, cure });

function node() {
  checkNode();
  const { node: version } = process.versions;
  if (Number.parseInt(version, 10) >= SUPPORTED_NODE) return ok(`Node ${version}`);
  return warn(
    `Node ${version} works, and gets no security fixes since April 2026`,
    'nvm install 24   (the container image has it)',
  );
}

function npm() {
  const agent = /npm\/(\d+)(\S*)/.exec(process.env.npm_config_user_agent ?? '');
  const version = agent
    ? agent[1] + agent[2]
    : execFileSync('npm', ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' }).trim();
  return Number.parseInt(version, 10) >= 10
    ? ok(`npm ${version}`)
    : warn(`npm ${version}`, 'npm 10 or newer is tested: npm install -g npm@11');
}

function dependencies() {
  if (isInstalled()) return ok('dependencies installed');
  return warn('dependencies missing or older than package-lock.json', 'npm ci   (npm start does it as well)');
}

function cLibrary() {
  if (process.platform !== 'linux') return ok(`${process.platform} ${process.arch}`);
  if (isMusl())
    return fail(
      'musl instead of glibc',
      'Use a glibc system (Debian, Ubuntu, Fedora …), or set DATABASE_URL and TEMPORAL_ADDRESS.',
    );
  return ok(`glibc ${process.report.getReport().header.glibcVersionRuntime}, ${process.arch}`);
}

/** Returns the nearest existing directory above DATA_DIR, whose properties apply to DATA_DIR. */
function dataParent() {
  let dir = dataDir();
  while (!existsSync(dir)) dir = dirname(dir);
  return dir;
}

function disk() {
  const { bavail, bsize } = statfsSync(dataParent());
  const text = `${((Number(bavail) * Number(bsize)) / 1024 ** 3).toFixed(1)} GB free for ${dataDir()}`;
  return Number(bavail) * Number(bsize) >= MIN_FREE_BYTES
    ? ok(text)
    : warn(text, 'Free some space, or set DATA_DIR to another disk: 2 GB are comfortable.');
}

function writeAccess() {
  for (const dir of [root, dataParent()]) {
    try {
      accessSync(dir, constants.W_OK);
    } catch {
      return fail(`${dir} is not writable`, 'Change its owner, or set DATA_DIR to a directory that is.');
    }
  }
  return ok('checkout and data directory are writable');
}

function symlinks() {
  const dir = mkdtempSync(join(dataParent(), '.doctor-'));
  try {
    symlinkSync('target', join(dir, 'link'));
    return ok('symbolic links work');
  } catch (error) {
    return fail(
      `no symbolic links in ${dataParent()} (${error.code})`,
      'Move the checkout to a native file system; on Windows switch on developer mode.',
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function ports() {
  const state = runningState(dataDir());
  if (state) return ok(`the service runs here (process ${state.pid}), so its ports are taken`);
  const left = leftBehind(dataDir());
  const taken = [];
  for (const [name, port] of Object.entries(wantedPorts(process.env))) {
    if (!left.ports.has(port) && !(await isFree(port))) taken.push({ name, port });
  }
  const text = `taken: ${taken.map(({ name, port }) => `${name} ${port}`).join(', ')}`;
  if (taken.some(({ name }) => process.env[name])) return fail(text, 'Choose other ports, or leave the settings unset.');
  if (taken.length > 0) return warn(text, 'Nothing to do: npm start takes the next free ones and says so.');
  if (left.names.length === 0) return ok('ports are free');
  const still = `an earlier start was killed, and left running: ${left.names.join(', ')}`;
  return warn(still, 'Nothing to do: npm start stops them first, and their ports are free again.');
}

function postgres() {
  if (process.env.DATABASE_URL) return ok('PostgreSQL from DATABASE_URL');
  const user = serviceUser();
  const { bin, version } = findBinaries(user);
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  const banner = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8', cwd: '/', ...identity }).trim();
  return ok(`PostgreSQL ${version} (${banner})${user ? `, runs as ${user.name} because you are root` : ''}`);
}

async function temporal() {
  if (process.env.TEMPORAL_ADDRESS) return ok(`Temporal at ${process.env.TEMPORAL_ADDRESS}`);
  const found = await findCli();
  if (found) return ok(`Temporal CLI with server ${found.version} (${found.from}: ${found.path})`);
  return warn(
    `no Temporal CLI on the PATH or at ${cachedCliPath()}`,
    'npm start downloads or builds it once; or install it: https://docs.temporal.io/cli#install',
  );
}

/**
 * Reads the database, if one is running.
 * @param what names what `judge` looks at, for the line of a failure
 * @param judge makes the outcome from a query function
 */
async function inDatabase(what, judge) {
  const url = process.env.DATABASE_URL ?? runningState(dataDir())?.env?.DATABASE_URL;
  if (!url || !isInstalled()) return ok(`${what} not read: the service does not run here`);
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, statement_timeout: 2_000 });
  try {
    await client.connect();
    return await judge(async (text) => (await client.query(text)).rows);
  } catch (error) {
    return warn(`${what} not read: ${error.message}`, 'Start PostgreSQL, and run npm run migrate if the table is missing.');
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Counts parked outbox rows. */
const parkedRows = () =>
  inDatabase('outbox', async (query) => {
    const [{ parked, since }] = await query(
      'select count(*)::int as parked, min(parked_at) as since from outbox where parked_at is not null',
    );
    if (parked === 0) return ok('no row of the outbox is parked');
    return warn(
      `${parked} ${parked === 1 ? 'row' : 'rows'} of the outbox parked, the first at ${since.toISOString()}`,
      'npm run admin -- outbox-parked   lists them with their errors; docs/operate/troubleshoot.md says how to judge and replay them',
    );
  });

/** Tells whether deliveries of webhooks are late, and how many endpoints fail. Reads at most 10,000 deliveries. */
const webhooks = () =>
  inDatabase('webhooks', async (query) => {
    const [{ waiting, late, failing }] = await query(
      `select count(*)::int as waiting,
         coalesce(max(extract(epoch from now() - q.next_attempt_at))
           filter (where q.tries = 0 and not q.is_leased and h.failure_count = 0), 0)::int as late,
         count(distinct q.webhook_id) filter (where h.failure_count > 0)::int as failing
       from (select * from webhook_queue limit 10000) q
       join webhook_health h using (webhook_id) join webhooks w using (webhook_id) where w.is_active`,
    );
    const text = `${waiting} webhook ${waiting === 1 ? 'delivery waits' : 'deliveries wait'}, ${failing} ${failing === 1 ? 'endpoint fails' : 'endpoints fail'}`;
    if (late < LATE_SECONDS) return ok(text);
    return warn(
      `${text}; a first attempt is ${late} s late`,
      'Is the worker up? docs/operate/troubleshoot.md shows who waits and which metrics tell why.',
    );
  });

/** Returns a check's outcome. A check that throws has failed; expected failures include a cure. */
async function outcome(check) {
  try {
    return await check();
  } catch (error) {
    return fail(error.message, error instanceof StartError ? error.cures.join('  ') : 'This is unexpected: please report it.');
  }
}

loadEnvFile();
let failures = 0;
for (const check of [
  node,
  npm,
  dependencies,
  cLibrary,
  disk,
  writeAccess,
  symlinks,
  ports,
  postgres,
  temporal,
  parkedRows,
  webhooks,
]) {
  const { state, text, cure } = await outcome(check);
  process.stdout.write(`${state.padEnd(5)} ${text}\n${cure ? `      → ${cure}\n` : ''}`);
  if (state === 'FAIL') failures += 1;
}
process.exitCode = failures > 0 ? 1 : 0;
