/** `npm run build`, and the same for npm start and npm test: compile, then bundle the workflows. Each step runs only when its input changed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { printFailure, StartError } from './embedded/errors.mjs';
import { track } from './embedded/processes.mjs';
import { root } from './embedded/settings.mjs';

const run = promisify(execFile);
/** Path of the prebuilt workflow bundle. */
export const bundlePath = join(root, '.build', 'workflow-bundle.js');
const SOURCE_DIRS = ['api', 'workflows', 'activities', 'db', 'scripts', 'clients/typescript'];
/** Files that the code reads: templates, styles and browser scripts of the web app, and the SQL of migrations. The Dockerfile copies the same. */
const ASSETS = [
  { dir: 'api/web/views', only: '' },
  { dir: 'api/web/assets', only: '' },
  { dir: 'db/migrations', only: '.sql' },
];
const MAX_OUTPUT = 16 * 1024 * 1024;

/**
 * Brings dist/ and the workflow bundle up to date.
 * @param {{typesToo?: boolean}} options `typesToo: false` leaves the types to another process that checks all of them
 * @returns {Promise<{compiled: boolean, bundled: boolean}>} what had to be done
 * @throws {StartError} with the compiler's messages
 */
export async function build({ typesToo = true } = {}) {
  mkdirSync(join(root, '.build'), { recursive: true });
  const compiled = await step('compile', sourceFiles(), join(root, 'dist'), () => compile(typesToo));
  const bundled = await step('bundle', bundleInputs(), bundlePath, bundle);
  return { compiled, bundled };
}

const buildStampPath = (name) => join(root, '.build', `${name}.stamp`);

/** Lets the next build compile again, and report what is wrong with the types. */
export function forgetCompilation() {
  rmSync(buildStampPath('compile'), { force: true });
}

/** Runs `work` unless the stamp of an earlier run names the same input and the output is there. */
async function step(name, files, output, work) {
  const stamp = buildStampPath(name);
  const hash = computeHash([...files, join(root, 'package-lock.json')]);
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return false;
  rmSync(stamp, { force: true });
  await work();
  writeFileSync(stamp, hash);
  return true;
}

function computeHash(files) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`);
  for (const file of files)
    hash
      .update(`${relative(root, file)}\n`)
      .update(readFileSync(file))
      .update('\n');
  return hash.digest('hex');
}

/** Files below a directory (absolute paths, sorted); a missing directory has none. */
function walk(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function sourceFiles() {
  const sources = SOURCE_DIRS.flatMap((dir) => walk(join(root, dir))).filter((file) => ['.ts', '.json'].includes(extname(file)));
  const ours = sources.filter((file) => !relative(root, file).startsWith(join('clients', 'typescript', 'dist')));
  return [...ours, ...assetFiles(), join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json')];
}

const assetFiles = () => ASSETS.flatMap(({ dir, only }) => walk(join(root, dir)).filter((file) => file.endsWith(only)));

/**
 * What the bundle is made of, as compiled: a changed comment or type does not change it. Workflows may import the pure rules of a feature
 * and nothing else of it (the linter sees to that).
 */
function bundleInputs() {
  const dist = join(root, 'dist');
  const rules = walk(join(dist, 'api')).filter((file) => file.endsWith('/rules.js') || file.endsWith('\\rules.js'));
  const workflows = walk(join(dist, 'workflows')).filter((file) => !file.endsWith('.map'));
  return [...workflows, ...rules, join(dist, 'scripts', 'build-workflow-bundle.js')].filter(existsSync);
}

async function compile(typesToo) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await node(
    [tsc, '-p', 'tsconfig.build.json', ...(typesToo ? [] : ['--noCheck'])],
    'The TypeScript sources do not compile.',
    'Fix the lines above.',
  );
  prune();
  for (const file of assetFiles()) cpSync(file, join(root, 'dist', relative(root, file)));
}

/** Removes compiled files whose source is gone: a renamed migration must not run under both names. */
function prune() {
  const dist = join(root, 'dist');
  for (const file of walk(dist)) {
    const source = join(root, relative(dist, file)).replace(/\.js(\.map)?$/, '.ts');
    if (!existsSync(source)) rmSync(file);
  }
}

async function bundle() {
  await node(
    ['--enable-source-maps', join(root, 'dist', 'scripts', 'build-workflow-bundle.js')],
    'The workflow bundle could not be built.',
    'Workflow code must be deterministic: look for an import of a Node module or of a database file in workflows/.',
  );
}

async function node(args, cause, cure) {
  try {
    const running = run(process.execPath, args, { cwd: root, maxBuffer: MAX_OUTPUT });
    track(running.child);
    await running;
  } catch (error) {
    throw new StartError(cause, cure, `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(0, 40));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const started = Date.now();
    const { compiled, bundled } = await build();
    const did = [compiled && 'compiled', bundled && 'bundled the workflows'].filter(Boolean).join(', ') || 'already up to date';
    process.stdout.write(`${did} (${((Date.now() - started) / 1000).toFixed(1)} s)\n`);
  } catch (error) {
    printFailure(error);
    process.exitCode = 1;
  }
}
