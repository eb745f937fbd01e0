/**
 * `npm test`: everything that CI runs, on a fresh clone, without other services. It ends with the ten slowest test files and one line
 * `N passed, N failed`. Arguments go to jest: `npm test -- test/api`. A path skips the static checks and the list of the slowest files.
 * `npm run test:long` repeats the races and the fault points, and nothing else, far more often; a number of rounds in the environment wins.
 * `npm run test:repeat -- N PATH…` runs files N times, each time with another seed, and prints the seeds that failed; `npm test -- PATH
 * --seed=S` repeats one.
 * `npm run test:node -- 24 …` does the same as `npm test -- …` under that version of Node, which it fetches once.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build, forgetCompilation } from './build.mjs';
import { printFailure } from './embedded/errors.mjs';
import { ensureInstalled } from './embedded/install.mjs';
import { obtainNode } from './embedded/node-versions.mjs';
import { checkNode, root } from './embedded/settings.mjs';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;
const mode = ['--long', '--repeat', '--node'].find((flag) => flag === process.argv[2]);
const isLong = mode === '--long';
const args = process.argv.slice(mode ? 3 : 2);
const count = { passed: 0, failed: 0 };
/** Slowest test files that a whole run lists. */
const SLOWEST = 10;
/** Test files that ran, with the milliseconds each took. */
const durations = [];
const out = (text) => process.stdout.write(`${text}\n`);

/** Returns the file behind a package's command: run by Node directly, it needs no shell on any system. */
function bin(packageName, command) {
  const dir = join(root, 'node_modules', packageName);
  const declared = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).bin;
  return join(dir, typeof declared === 'string' ? declared : declared[command]);
}

const CHECKS = [
  ['format', () => [bin('@biomejs/biome', 'biome'), 'format', '.']],
  ['lint', () => [bin('oxlint', 'oxlint'), '--type-aware']],
  ['types', () => [bin('typescript', 'tsc'), '--noEmit']],
  ['unused code', () => [bin('knip', 'knip')]],
];

/**
 * The checks are programs in Go, or start one, that live for seconds: a quarter of the CPU of the check of types went into collecting garbage.
 * The limit keeps a small machine from swapping.
 */
const CHECK_ENV = { GOGC: '400', GOMEMLIMIT: '2GiB', ...process.env };

/** Rounds of the races and fault points in `npm run test:long`, and the files that have some. */
const LONG_ROUNDS = { CAS_ROUNDS: '200', RELATION_ROUNDS: '200', OUTBOX_ROUNDS: '20', DEGRADE_RESTARTS: '100' };
const LONG_FILES = ['races', 'approvals', 'dead-letter', 'take-over', 'test/outbox', 'restarts'];
const LONG_ARGS = [`--testPathPatterns=${LONG_FILES.join('|')}`, '--testTimeout=3600000'];

/** Runs one step, prints its line and counts it; shows its output only if it fails. */
async function check(label, work, print = out) {
  const since = Date.now();
  const seconds = () => `${((Date.now() - since) / 1000).toFixed(1)} s`;
  try {
    await work();
    print(`ok    ${label}  ${seconds()}`);
    count.passed += 1;
    return true;
  } catch (error) {
    print(`FAIL  ${label}  ${seconds()}`);
    const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim();
    if (output) print(output);
    else printFailure(error);
    count.failed += 1;
    return false;
  }
}

/** Runs the static checks one after the other. Returns their lines, which would get lost among those of jest. */
async function staticChecks() {
  const lines = [];
  for (const [label, command] of CHECKS) {
    const passed = await check(
      label,
      () => run(process.execPath, command(), { cwd: root, maxBuffer: MAX_OUTPUT, env: CHECK_ENV }),
      (line) => lines.push(line),
    );
    if (label === 'types' && !passed) forgetCompilation();
  }
  return lines;
}

/**
 * Each test file has a database of 900 files: on a disk, creating and removing them takes a tenth of the CPU time of all tests. Containers
 * often have a memory file system too small for it.
 */
const MEMORY_DIR = '/dev/shm';
const MEMORY_BYTES = 4 * 1024 ** 3;

/** The directory for what tests write, and programs they make: in memory where there is room, unless the caller names one. */
function temporaryDir() {
  if (process.env.TMPDIR) return process.env.TMPDIR;
  try {
    accessSync(MEMORY_DIR, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY_DIR);
    const runsNothing = / \/dev\/shm .*\bnoexec\b/.test(readFileSync('/proc/mounts', 'utf8'));
    return bavail * bsize >= MEMORY_BYTES && !runsNothing ? MEMORY_DIR : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * Runs jest on this terminal and adds its counts; a suite that failed to run counts as one failure. Returns the names of what failed.
 * @param {string[]} args
 */
async function jest(args) {
  const dir = mkdtempSync(join(tmpdir(), 'assent-jest-'));
  const report = join(dir, 'report.json');
  const flags = [
    '--experimental-vm-modules',
    // Each test file loads its modules anew: with more room for what is young, a tenth less time goes into collecting garbage.
    '--max-semi-space-size=64',
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
  ];
  const child = spawn(process.execPath, [...flags, '--json', `--outputFile=${report}`, ...(isLong ? LONG_ARGS : []), ...args], {
    cwd: root,
    // With --json jest repeats the report on stdout unless it has a file; the rest there is noise.
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...(isLong && LONG_ROUNDS), ...process.env, NODE_ENV: 'test', TMPDIR: temporaryDir() },
  });
  process.on('SIGINT', () => {});
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  let failed;
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    count.passed += numPassedTests;
    count.failed += numFailedTests + numRuntimeErrorTestSuites;
    for (const { name, startTime, endTime } of testResults)
      durations.push({ name: relative(root, name), ms: endTime - startTime });
    failed = testResults.flatMap(({ name, status, assertionResults }) => {
      const tests = assertionResults.filter((result) => result.status === 'failed').map(({ fullName }) => fullName);
      return status === 'failed' ? [`${relative(root, name)}: ${tests.join(' | ') || 'did not run'}`] : [];
    });
  } catch {
    failed = ['jest wrote no report'];
    count.failed += 1;
  }
  rmSync(dir, { recursive: true, force: true });
  // Something other than a test failed, for example the teardown.
  if (code !== 0 && failed.length === 0) {
    failed.push('jest failed outside of its tests');
    count.failed += 1;
  }
  return failed;
}

/** Returns a line for each of the test files that took longest, with the others beside them: CI shows where its time goes. */
function slowest() {
  const longest = durations.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  return longest.map(({ name, ms }) => `slow  ${name}  ${(ms / 1000).toFixed(1)} s`);
}

/**
 * Runs test files several times, each time with another seed, and prints what failed with its seed.
 * @param {string[]} args number of rounds, then paths
 */
async function repeat([rounds = '', ...paths]) {
  if (!/^[1-9][0-9]{0,4}$/.test(rounds) || paths.length === 0) {
    throw new Error('Usage: npm run test:repeat -- ROUNDS PATH…, for example 20 test/api/identity/admin');
  }
  const failures = [];
  for (let round = 1; round <= Number(rounds); round += 1) {
    const seed = randomInt(2 ** 31);
    out(`round ${round} of ${rounds}, seed ${seed}`);
    for (const name of await jest([...paths, `--seed=${seed}`])) failures.push(`round ${round}, --seed=${seed}: ${name}`);
  }
  for (const line of failures) out(`FAIL  ${line}`);
}

/** Runs the suite under another version of Node, which is also first on the path for what the tests start. Returns its exit status. */
function runUnder(version = '', ...others) {
  const binary = obtainNode(version);
  const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` };
  return spawnSync(binary, [process.argv[1], ...others], { stdio: 'inherit', env }).status ?? 1;
}

if (mode === '--node') {
  try {
    process.exit(runUnder(...args));
  } catch (error) {
    printFailure(error);
    process.exit(1);
  }
}
try {
  checkNode();
  await ensureInstalled();
  const isWhole = mode === undefined && !args.some((arg) => !arg.startsWith('-'));
  // The check of the types beside jest covers the product too.
  if (await check('build', () => build({ typesToo: !isWhole }))) {
    // Beside jest: while its servers start, a core is free.
    if (mode === '--repeat') await repeat(args);
    else {
      const [lines] = await Promise.all([isWhole ? staticChecks() : [], jest(args)]);
      for (const line of [...lines, ...(isWhole ? slowest() : [])]) out(line);
    }
  }
} catch (error) {
  printFailure(error);
  count.failed += 1;
}
out(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 ? 0 : 1;
