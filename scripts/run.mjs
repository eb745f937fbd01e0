/** `node scripts/run.mjs NAME args…`: runs the compiled command dist/scripts/NAME.js against the running service. `npm run migrate`, `demo`, ... */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { printFailure, StartError } from './embedded/errors.mjs';
import { ensureInstalled } from './embedded/install.mjs';
import { runningState } from './embedded/run-state.mjs';
import { checkNode, dataDir, loadEnvFile, root } from './embedded/settings.mjs';

/** Commands that need no running service: they read the sources, or start their own servers. So does audit-verify of an export. */
const STANDALONE = new Set([
  'openapi',
  'client',
  'chaos',
  'soak',
  'bench',
  'timing',
  'bench-growth',
  'fuzz',
  'house',
  'capacity',
  'runner',
  'production',
]);
const [name = '', ...args] = process.argv.slice(2);

/**
 * Returns the command's environment. An explicit DATABASE_URL selects that installation, without any setting of a local service;
 * otherwise unset values come from the running service.
 * @throws {StartError} without a database
 */
function commandEnv() {
  const env = { NODE_ENV: 'development', ...process.env };
  if (env.DATABASE_URL) return env;
  const state = runningState(dataDir());
  if (state?.env?.DATABASE_URL) return { ...state.env, ...process.env };
  if (STANDALONE.has(name) || args.some((arg) => arg.startsWith('--export'))) return env;
  const why = state ? 'The service is still starting' : 'No service runs in this checkout';
  throw new StartError(`${why}, and "npm run ${process.env.npm_lifecycle_event ?? name}" needs its database.`, [
    'Start the service in another terminal first: npm start',
    'Or set DATABASE_URL to the database of another installation.',
  ]);
}

/** Programs that ship with the client. */
const PROGRAMS = { runner: join('clients', 'typescript', 'runner', 'main.js') };

function compiledCommand() {
  const file = join(root, 'dist', Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : join('scripts', `${name}.js`));
  if (/^[\w-]+$/.test(name) && existsSync(file)) return file;
  const known = readdirSync(join(root, 'dist', 'scripts'))
    .filter((entry) => entry.endsWith('.js'))
    .map((entry) => entry.slice(0, -3));
  throw new StartError(`There is no command "${name}".`, `Known: ${known.join(', ')}`);
}

/** Runs the command on this terminal. The command itself receives Ctrl-C; this process waits for its end. */
function execute(file, env) {
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], { stdio: 'inherit', env, cwd: root });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ? 1 : code));
  });
}

try {
  checkNode();
  loadEnvFile();
  await ensureInstalled();
  await build();
  process.exitCode = await execute(compiledCommand(), commandEnv());
} catch (error) {
  printFailure(error);
  process.exitCode = 1;
}
