import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VERSION = '4.32.5';

/** Results of a run: responses by status, and every unexpected error response. */
export interface Counts {
  statuses: Record<string, number>;
  violations: { request: string; status: number; problems: string[] }[];
  /** The last writes before most requests were refused with 401; empty if they were not. */
  ended_after: string[];
}

function mustRun(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** Returns the path of the schemathesis command; installs it on first use. @throws Error without Python 3 or network */
export function obtainSchemathesis(): string {
  const venv = resolve('.build', `schemathesis-${VERSION}`);
  const command = join(venv, 'bin', 'schemathesis');
  if (!existsSync(command)) {
    console.error(`Installing schemathesis ${VERSION} into ${venv} …`);
    mustRun('python3', ['-m', 'venv', venv]);
    mustRun(join(venv, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
  }
  return command;
}

interface Round {
  schemathesis: string;
  root: string;
  url: string;
  token: string;
  seed: number;
  /** Only paths that match this regular expression. */
  only: string | undefined;
  /** Directory of temporary files. */
  dir: string;
}

/** Returns the id of a session from its token; empty for an access token. */
function openFuzzSession(token: string): string {
  const [, claims] = token.split('.');
  return claims === undefined ? '' : (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string }).sid;
}

/** Runs all phases and checks once over the whole document, with output to the terminal. */
export async function fuzzOnce({
  schemathesis,
  root,
  url,
  token,
  seed,
  only,
  dir,
}: Round): Promise<{ passed: boolean; counts: Counts }> {
  const countsFile = join(dir, 'fuzz-counts.json');
  rmSync(countsFile, { force: true });
  const hooks = join(root, 'scripts', 'fuzz');
  const args = ['--config-file', join(hooks, 'schemathesis.toml'), 'run', `${url}/api/openapi.json`];
  args.push('--header', `Authorization: Bearer ${token}`, '--seed', String(seed), '--max-examples', '30', '--workers', '1');
  args.push('--continue-on-failure', '--generation-database', 'none', '--no-color', '--warnings', 'off');
  if (only !== undefined) args.push('--include-path-regex', only);
  const env = {
    ...process.env,
    PYTHONPATH: hooks,
    SCHEMATHESIS_HOOKS: 'hooks',
    FUZZ_COUNTS: countsFile,
    FUZZ_SESSION: openFuzzSession(token),
  };
  const child = spawn(schemathesis, args, { stdio: ['ignore', 'inherit', 'inherit'], env, cwd: dir });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (!existsSync(countsFile)) throw new Error(`schemathesis ended with ${code} and no answer`);
  return { passed: code === 0, counts: JSON.parse(readFileSync(countsFile, 'utf8')) as Counts };
}
