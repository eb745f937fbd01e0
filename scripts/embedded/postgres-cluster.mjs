/** The cluster of the embedded PostgreSQL: initdb, the database and the password, all without a running server. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';
import { explain } from './postgres-errors.mjs';
import { makePrivateDir } from './postgres-files.mjs';
import { track } from './processes.mjs';

const run = promisify(execFile);
const MAJOR = '18';
export const exe = process.platform === 'win32' ? '.exe' : '';
export const ROLE = 'assent';

/** The builtin provider sorts and folds the same on every machine; other systems than Linux may not know the C library's C.UTF-8. */
const LOCALE = process.platform === 'linux' ? ['--locale=C.UTF-8'] : ['--locale=C', '--builtin-locale=C.UTF-8'];
const INITDB = `--username=${ROLE} --auth=scram-sha-256 --encoding=UTF8 --locale-provider=builtin --no-sync --no-instructions`
  .split(' ')
  .concat(LOCALE);

/**
 * Creates the cluster when there is none, and makes sure that we know its password.
 * @param {{bin: string, cluster: string, user: {uid: number, gid: number} | null}} ctx folder of the programs, data directory, server's user
 * @param {string} passwordFile
 * @returns {Promise<string>} the password of role `assent`
 */
export async function ensureCluster(ctx, passwordFile) {
  const known = existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8').trim() : '';
  const password = known || randomBytes(24).toString('hex');
  if (!existsSync(join(ctx.cluster, 'PG_VERSION'))) {
    await createCluster(ctx, password);
  } else {
    const major = readFileSync(join(ctx.cluster, 'PG_VERSION'), 'utf8').trim();
    if (major !== MAJOR) {
      throw new StartError(`The data in ${ctx.cluster} belongs to PostgreSQL ${major}, this project runs ${MAJOR}.`, [
        'Start over with fresh demo data: npm run reset',
        `Or keep the data: serve it with PostgreSQL ${major} and set DATABASE_URL.`,
      ]);
    }
    if (!known) await singleUser(ctx, ctx.cluster, `ALTER ROLE ${ROLE} PASSWORD '${password}'`);
  }
  if (!known) writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  return password;
}

/** Runs initdb beside the final name and renames at the end: a cluster that exists is complete, whatever was killed when. */
async function createCluster(ctx, password) {
  const partial = `${ctx.cluster}.partial-${randomBytes(4).toString('hex')}`;
  makePrivateDir(partial, ctx.user);
  const passwordFile = join(partial, 'password');
  const data = join(partial, 'data');
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (ctx.user) chownSync(passwordFile, ctx.user.uid, ctx.user.gid);
    await tool(ctx, 'initdb', ['-D', data, '--pwfile', passwordFile, ...INITDB]);
    await singleUser(ctx, data, `CREATE DATABASE ${ROLE}`);
    // Any existing directory here is an incomplete attempt.
    rmSync(ctx.cluster, { recursive: true, force: true });
    renameSync(data, ctx.cluster);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Runs one statement without a running server and without a password, like PostgreSQL's own initdb. */
async function singleUser(ctx, data, statement) {
  await tool(ctx, 'postgres', ['--single', '-j', '-D', data, '-c', 'log_checkpoints=off', 'postgres'], `${statement};\n\n`);
}

/** Runs a PostgreSQL program to its end as the server's user. */
async function tool({ bin, user }, name, args, input = '') {
  const running = run(join(bin, name + exe), args, {
    cwd: '/',
    env: serverEnv(),
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  });
  track(running.child);
  running.child.stdin.on('error', () => {});
  running.child.stdin.end(input);
  const result = await running.catch((error) => {
    throw explain(
      `${name} failed`,
      `${error.stderr ?? ''}${error.stdout ?? ''}`.split('\n').filter(Boolean).slice(-12),
      error.message,
    );
  });
  // Single-user mode reports a failed statement on stderr and still exits 0.
  if (/ERROR:|FATAL:/.test(result.stderr)) throw explain(`${name} failed`, result.stderr.split('\n').filter(Boolean));
}

/** Removes PG* and library settings that would affect the embedded server. */
export function serverEnv() {
  const { PATH, SystemRoot, TEMP } = process.env;
  return { PATH, ...(SystemRoot ? { SystemRoot, TEMP } : {}) };
}
