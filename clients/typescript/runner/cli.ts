import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AddressError, readServiceAddress } from '../node/service-address.js';
import { getVersion } from '../node/version.js';
import { Refused, RunnerApi, ServerAway } from './api.js';
import { Daemon } from './daemon.js';
import { State, UsageError } from './state.js';

const USAGE = `assent-runner register --url URL --token TOKEN [--name NAME] [--labels A,B] [--dir DIR] [--replace]
assent-runner run [--dir DIR] [--grace SECONDS]

  --url URL        address of the service, such as https://assent.example
  --token TOKEN    registration token of the team (or in ASSENT_REGISTRATION_TOKEN); it works once
  --name NAME      name of the runner; defaults to the name of this machine
  --labels A,B     what this machine offers; a job runs where all of its labels are. Defaults to the platform, such as ${process.platform},${process.arch}
  --dir DIR        folder of the runner (or in ASSENT_RUNNER_DIR); defaults to ~/.assent-runner
  --replace        forgets the registration that the folder holds
  --insecure       allows http to another machine: the runner's token and the values of secrets travel in clear
  --grace SECONDS  time between SIGTERM and SIGKILL for a command that is ended; defaults to 10

SIGTERM ends the runner after its job, a second one ends the job too.
Exit status: 0 stopped, 1 failed, 2 wrong usage, 78 not registered, or deleted by the team`;

const EXIT = { stopped: 0, failed: 1, usage: 2, unregistered: 78 } as const;

const OPTIONS = {
  url: { type: 'string' },
  token: { type: 'string' },
  name: { type: 'string' },
  labels: { type: 'string' },
  dir: { type: 'string' },
  replace: { type: 'boolean' },
  insecure: { type: 'boolean' },
  grace: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof readArgs>['values'];
const readArgs = (args: string[]) => parseArgs({ args, options: OPTIONS, allowPositionals: true });

/** Under systemd the journal has the time. */
function print(line: string): void {
  process.stdout.write(`${process.env['JOURNAL_STREAM'] ? '' : `${new Date().toISOString()} `}${line}\n`);
}

const getState = (values: Values): State =>
  new State(resolve(values.dir ?? process.env['ASSENT_RUNNER_DIR'] ?? join(homedir(), '.assent-runner')));

/** The option that names the folder again, unless it is the default one or stands in the environment. */
const dirOption = ({ dir }: Values): string => (dir === undefined ? '' : ` --dir ${dir}`);

async function register(values: Values): Promise<void> {
  if (values.url === undefined) throw new UsageError('--url is required.', EXIT.usage);
  const url = readServiceAddress(values.url, values.insecure ?? false);
  const token = values.token ?? process.env['ASSENT_REGISTRATION_TOKEN'];
  if (!token) throw new UsageError('--token is required: an admin of the team creates it under Runners.', EXIT.usage);
  const state = getState(values);
  if (state.isRegistered && !values.replace) {
    throw new UsageError(`${state.dir} has a registration already. --replace forgets it.`, EXIT.usage);
  }
  state.create();
  const labels = (values.labels ?? `${process.platform},${process.arch}`).split(',').map((label) => label.trim());
  const body = { token, name: values.name ?? hostname(), labels: labels.filter((label) => label !== ''), version: getVersion() };
  const { runner_id, runner_token, ...registered } = await new RunnerApi(url).register(body).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.status !== 401) throw error;
    throw new UsageError(
      'The registration token is unknown, used or expired. A team admin creates another one under Runners.',
      EXIT.failed,
    );
  });
  state.saveRegistration({ url, runner_id, runner_token, name: registered.name, labels: registered.labels });
  print(
    `registered ${registered.name} with the labels ${registered.labels.join(', ') || '(none)'}. Start it: assent-runner run${dirOption(values)}`,
  );
}

async function run(values: Values): Promise<void> {
  const seconds = values.grace ?? '10';
  if (!/^\d{1,4}$/.test(seconds)) throw new UsageError('--grace is a number of seconds.', EXIT.usage);
  const state = getState(values);
  const { url, runner_token, name, runner_id } = state.registration();
  state.create();
  state.lock();
  const version = getVersion();
  const daemon = new Daemon(new RunnerApi(url, runner_token), state, { version, graceMs: Number(seconds) * 1000, print });
  const stop = () => daemon.stop();
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  // A terminal or pipe that is gone must not end the daemon in the middle of a job.
  process.stdout.on('error', () => {});
  try {
    print(`runner ${name} (${runner_id}) ${version} waits for jobs of ${url}`);
    await daemon.work();
    print('stopped');
  } finally {
    for (const signal of signals) process.off(signal, stop);
    state.unlock();
  }
}

/** Returns the message and the exit status of an error. */
function explain(error: unknown): { message: string; status: number } {
  if (error instanceof UsageError) return { message: error.message, status: error.status };
  if (error instanceof AddressError) return { message: error.message, status: EXIT.usage };
  if (error instanceof ServerAway) return { message: `The service cannot be reached: ${error.message}`, status: EXIT.failed };
  if (error instanceof Refused) return { message: `The service refused: ${error.message}`, status: EXIT.failed };
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('ERR_PARSE_ARGS')) return { message: `${(error as Error).message}\n\n${USAGE}`, status: EXIT.usage };
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error), status: EXIT.failed };
}

/** Runs a command line. Returns its exit status. */
export async function main(args: string[]): Promise<number> {
  try {
    const { values, positionals } = readArgs(args);
    const [command, ...others] = positionals;
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return EXIT.stopped;
    }
    if (process.platform === 'win32')
      throw new UsageError('The runner needs Linux or macOS: Windows has no process groups.', EXIT.usage);
    if (command === 'register' && others.length === 0) await register(values);
    else if (command === 'run' && others.length === 0) await run(values);
    else throw new UsageError(USAGE, EXIT.usage);
    return EXIT.stopped;
  } catch (error) {
    const { message, status } = explain(error);
    process.stderr.write(`${message}\n`);
    return status;
  }
}
