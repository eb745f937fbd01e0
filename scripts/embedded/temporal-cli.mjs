/** Finds the Temporal CLI, or downloads or builds it once per user, in the order of the README's "Ports and servers". */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, createWriteStream, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { get } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';
import { track } from './processes.mjs';

const run = promisify(execFile);
const VERSION = '1.5.1';
const OLDEST_SERVER = [1, 29, 1];
const exe = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const CONNECT_MS = 5_000;
const DOWNLOAD_MS = 180_000;
const MAX_REDIRECTS = 5;

/** @typedef {(line: string) => void} Say tells the person what a slow step is doing */

/** Where the CLI is kept for this user (XDG rules), shared by all checkouts. */
export function cachedCliPath(env = process.env) {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'assent', `temporal-${VERSION}`, exe);
}

/**
 * Finds the CLI without obtaining anything.
 * @param {Record<string, string | undefined>} [env]
 * @returns {Promise<{path: string, from: string, version: string} | null>}
 * @throws {StartError} when TEMPORAL_CLI_PATH is set and does not do: a setting is never passed over in silence
 */
export async function findCli(env = process.env) {
  if (env.TEMPORAL_CLI_PATH) {
    const version = await serverVersion(env.TEMPORAL_CLI_PATH);
    if (isNewEnough(version)) return { path: env.TEMPORAL_CLI_PATH, from: 'TEMPORAL_CLI_PATH', version };
    const reason = version ? `holds server ${version}, older than ${OLDEST_SERVER.join('.')}` : 'is not a working Temporal CLI';
    throw new StartError(`TEMPORAL_CLI_PATH=${env.TEMPORAL_CLI_PATH} ${reason}.`, [
      `Point it at Temporal CLI ${VERSION} or newer, or leave it unset.`,
    ]);
  }
  for (const dir of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(dir, exe);
    if (!isExecutable(path)) continue;
    const version = await serverVersion(path);
    if (isNewEnough(version)) return { path, from: 'PATH', version };
  }
  const cached = cachedCliPath(env);
  if (isExecutable(cached)) return { path: cached, from: 'cache', version: OLDEST_SERVER.join('.') };
  return null;
}

/**
 * Finds the CLI or obtains it: official download, then `go install`.
 * @param {Say} say
 * @param {Say} [still] tells every 20 seconds that a build goes on
 * @param {Record<string, string | undefined>} [env]
 * @returns {Promise<{path: string, from: string, version: string}>}
 */
export async function obtainCli(say, still = say, env = process.env) {
  const found = await findCli(env);
  if (found) return found;
  const target = cachedCliPath(env);
  const tried = [];
  for (const { from, obtain } of [
    { from: 'download', obtain: download },
    { from: 'go install', obtain: goInstall },
  ]) {
    try {
      await obtain(target, { say, still, env });
      return { path: target, from, version: OLDEST_SERVER.join('.') };
    } catch (error) {
      tried.push(`${from}: ${error.message}`);
      say(`${from} did not work: ${error.message}`);
    }
  }
  throw new StartError('There is no Temporal server to start: no CLI found, none obtained.', cures(target), tried);
}

function cures(target) {
  return [
    `Install the Temporal CLI ${VERSION} or newer so that \`temporal\` is on the PATH (https://docs.temporal.io/cli#install).`,
    'Or set TEMPORAL_CLI_PATH to its file.',
    `Or put the binary of release v${VERSION} at ${target}.`,
    'Or install Go 1.24 or newer (https://go.dev/dl): npm start then builds the CLI once.',
    'Or set TEMPORAL_ADDRESS to a running Temporal (host:port).',
  ];
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Server version that a CLI reports, for example `1.29.1`; null when it does not run or says nothing of the kind. */
async function serverVersion(path) {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 10_000 });
    return /\(Server (\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

function isNewEnough(version) {
  if (!version) return false;
  const parts = version.split('.').map(Number);
  const first = parts.findIndex((part, i) => part !== OLDEST_SERVER[i]);
  return first === -1 || parts[first] > OLDEST_SERVER[first];
}

/** Downloads the official release archive, checks it against the release's checksums and unpacks it into the cache. */
async function download(target, { say }) {
  const os = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  if (!os || !arch) throw new Error(`no official build for ${process.platform}/${process.arch}`);
  const release = `https://github.com/temporalio/cli/releases/download/v${VERSION}`;
  const name = `temporal_cli_${VERSION}_${os}_${arch}.tar.gz`;
  say(`downloading the Temporal CLI ${VERSION} (about 70 MB, once per user)`);
  await intoCache(target, async (dir) => {
    const archive = join(dir, name);
    const sums = join(dir, 'checksums.txt');
    await fetchFile(`${release}/checksums.txt`, sums);
    await fetchFile(`${release}/${name}`, archive);
    const expected = readFileSync(sums, 'utf8')
      .split('\n')
      .find((line) => line.endsWith(name))
      ?.split(/\s/)[0];
    const actual = createHash('sha256').update(readFileSync(archive)).digest('hex');
    if (expected !== actual) throw new Error('the download does not match its checksum');
    await run('tar', ['-xzf', archive, '-C', dir, exe]);
  });
}

/** Downloads into a file, following redirects. Fails soon without a connection, so that an offline machine tries the next way. */
async function fetchFile(url, file, redirects = 0) {
  const response = await new Promise((resolve, reject) => {
    const request = get(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }, resolve);
    request.setTimeout(CONNECT_MS, () => request.destroy(new Error('no answer')));
    request.once('error', reject);
  });
  const { statusCode, headers } = response;
  if (statusCode >= 300 && statusCode < 400 && headers.location && redirects < MAX_REDIRECTS) {
    response.resume();
    const next = new URL(headers.location, url);
    if (next.protocol !== 'https:') throw new Error('redirected away from https');
    await fetchFile(next.href, file, redirects + 1);
    return;
  }
  if (statusCode !== 200) {
    response.resume();
    throw new Error(`${new URL(url).host} answered ${statusCode}`);
  }
  await pipeline(response, createWriteStream(file));
}

/** Builds the CLI from the Go module mirror. Stripped: 213 MB instead of 252. */
async function goInstall(target, { say, still, env }) {
  await run('go', ['version'], { timeout: 20_000 }).catch(() => {
    throw new Error('Go is not installed');
  });
  say('building the Temporal CLI, up to 5 minutes, once per user');
  const started = Date.now();
  const ticker = setInterval(
    () => still(`still building the Temporal CLI (${Math.round((Date.now() - started) / 1000)} s)`),
    20_000,
  );
  try {
    await intoCache(target, (dir) =>
      exec('go', ['install', '-ldflags=-s -w', `github.com/temporalio/cli/cmd/temporal@v${VERSION}`], {
        ...env,
        GOBIN: dir,
        GOFLAGS: '',
        CGO_ENABLED: '0',
      }),
    );
  } finally {
    clearInterval(ticker);
  }
}

/** Runs a program to its end; its last words become the error. */
function exec(file, args, env) {
  return new Promise((resolve, reject) => {
    const child = track(spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] }));
    let last = '';
    child.stderr.on('data', (chunk) => {
      last = (last + chunk).slice(-2_000);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      const words = last.trim().split('\n').slice(-2).join(' ');
      if (code === 0) resolve();
      else reject(new Error(words || `${file} ended with ${code}`));
    });
  });
}

/** Lets `fill` create the binary beside the cache directory and moves it in once it runs, so a cached file is always complete. */
async function intoCache(target, fill) {
  const home = join(target, '..');
  mkdirSync(home, { recursive: true });
  const dir = join(home, `partial-${randomBytes(4).toString('hex')}`);
  mkdirSync(dir);
  try {
    await fill(dir);
    const version = await serverVersion(join(dir, exe));
    if (!isNewEnough(version)) throw new Error('the binary does not run here');
    renameSync(join(dir, exe), target);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
