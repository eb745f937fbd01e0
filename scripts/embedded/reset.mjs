/** `npm run reset`: stops the running service and deletes its data. Prints what it deletes. */
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { printFailure, StartError } from './errors.mjs';
import { clearLeftovers } from './postgres.mjs';
import { stopPid } from './processes.mjs';
import { runningState, stopOrphanServices } from './run-state.mjs';
import { dataDir, loadEnvFile, root } from './settings.mjs';
import { stopOrphan } from './temporal.mjs';

/** Files that identify a data directory of this project. */
const MARKS = ['postgres-password', 'postgres.json', 'temporal', 'run.json'];
const STOP_MS = 8_000;
const out = (text) => process.stdout.write(`${text}\n`);

/** Never deletes a foreign directory, whatever DATA_DIR says. */
function refuseForeign(dir) {
  const holds = (inner) => `${realpathSync(inner)}${sep}`.startsWith(`${dir}${sep}`) || dir === sep;
  const entries = readdirSync(dir);
  if (!holds(root) && !holds(homedir()) && (entries.length === 0 || entries.some((name) => MARKS.includes(name)))) return;
  throw new StartError(`${dir} does not look like a data directory of Assent: nothing was removed.`, [
    'Check DATA_DIR; if the directory is the right one, remove it manually.',
  ]);
}

/** Returns the cluster's parent directory if it is outside DATA_DIR, else null. */
function clusterElsewhere(dir) {
  const note = join(dir, 'postgres.json');
  return existsSync(note) ? JSON.parse(readFileSync(note, 'utf8')).cluster : null;
}

async function stopAll(dir, cluster) {
  const state = runningState(dir);
  if (state) {
    out(`stopping the running service (process ${state.pid})`);
    await stopPid(state.pid, [
      ['SIGTERM', STOP_MS],
      ['SIGKILL', 1_000],
    ]);
  }
  await stopOrphanServices(dir);
  await stopOrphan(join(dir, 'temporal'));
  if (existsSync(cluster)) await clearLeftovers(cluster);
}

async function reset() {
  loadEnvFile();
  if (!existsSync(dataDir())) {
    out(`nothing to remove: ${dataDir()} does not exist`);
    return;
  }
  const dir = realpathSync(dataDir());
  refuseForeign(dir);
  const elsewhere = clusterElsewhere(dir);
  await stopAll(dir, elsewhere ?? join(dir, 'postgres'));
  const doomed = [dir, ...(elsewhere ? [dirname(elsewhere)] : [])];
  for (const path of doomed) {
    out(`removing ${path}`);
    rmSync(path, { recursive: true, force: true });
  }
  out('npm start begins with fresh demo data.');
}

try {
  await reset();
} catch (error) {
  printFailure(error);
  process.exitCode = 1;
}
