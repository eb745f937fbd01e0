/** Runs `npm ci` if node_modules differs from package-lock.json. */
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from './errors.mjs';
import { track } from './processes.mjs';
import { root } from './settings.mjs';

/**
 * Installs the dependencies when they are missing or older than the lock file. No package's install script runs: none is needed.
 * @param {{output?: number | 'inherit' | 'ignore', dir?: string}} [options] `output`: where npm's own progress goes (a file descriptor or
 *   our own output); `dir`: the checkout
 * @returns {Promise<boolean>} true when something was installed
 */
export async function ensureInstalled({ output = 'inherit', dir = root } = {}) {
  if (isInstalled(dir)) return false;
  if (lstatSync(join(dir, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    // npm would empty the folder that it points to, which is another checkout's.
    throw new StartError('node_modules is a symbolic link, and what it points to is not what package-lock.json names.', [
      'Remove the link and start again: rm node_modules',
    ]);
  }
  process.stderr.write('  · installing the dependencies: npm ci, usually under a minute\n');
  const npm = process.env.npm_execpath;
  const [file, args] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const code = await new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    const child = track(
      spawn(file, [...args, 'ci', '--ignore-scripts'], {
        cwd: dir,
        stdio: ['ignore', output, 'inherit'],
        shell: windows && file === 'npm',
      }),
    );
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return true;
  throw new StartError('The dependencies could not be installed (npm ci failed, its message is above).', [
    'Check the network and the registry: npm ping',
    'Behind a proxy set HTTPS_PROXY; with a mirror set it: npm config set registry <address>',
  ]);
}

/** True when the last install is newer than the lock file, or holds the same packages all the same (a fresh checkout, a touched file). */
export function isInstalled(dir = root) {
  const lock = join(dir, 'package-lock.json');
  const hidden = join(dir, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  if (statSync(hidden).mtimeMs >= statSync(lock).mtimeMs) return true;
  if (!samePackages(JSON.parse(readFileSync(lock, 'utf8')), JSON.parse(readFileSync(hidden, 'utf8')))) return false;
  const now = new Date();
  utimesSync(hidden, now, now);
  return true;
}

/** Every package of the lock is installed in its version; optional ones may be missing (other platforms). */
function samePackages(lock, hidden) {
  const installed = Object.keys(hidden.packages);
  return (
    installed.every((path) => path in lock.packages) &&
    Object.entries(lock.packages).every(([path, { version, optional, devOptional }]) => {
      const have = hidden.packages[path];
      return path === '' || (have ? have.version === version : Boolean(optional || devOptional));
    })
  );
}
