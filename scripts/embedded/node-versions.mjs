/** Another version of Node, from the packages of the npm registry that hold its binary: for running the suite under it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { StartError } from './errors.mjs';

const PLATFORMS = { linux: 'linux', darwin: 'darwin' };

/**
 * Returns the binary of a version such as `24` or `22.12`, fetched once a user.
 * @param {string} version
 * @returns {string}
 * @throws {StartError} on a system without such packages, or for an unknown version
 */
export function obtainNode(version) {
  const platform = PLATFORMS[process.platform];
  if (!platform || !/^\d+(\.\d+){0,2}$/.test(version)) {
    throw new StartError('Name a version of Node, on Linux or macOS: npm run test:node -- 24');
  }
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'assent');
  const dir = join(parent, `node-${version}`);
  const binary = join(dir, 'bin', 'node');
  if (existsSync(binary)) return binary;
  mkdirSync(parent, { recursive: true });
  const work = mkdtempSync(join(parent, 'node-'));
  try {
    execFileSync('npm', ['pack', '--silent', `node-${platform}-${process.arch}@${version}`], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [archive] = readdirSync(work);
    execFileSync('tar', ['-xzf', archive], { cwd: work });
    rmSync(dir, { recursive: true, force: true });
    renameSync(join(work, 'package'), dir);
    return binary;
  } catch (error) {
    throw new StartError(`Node ${version} could not be fetched: ${error.message}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
