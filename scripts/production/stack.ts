import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from '../chaos/product.js';
import type { Engine } from './engine.js';
import type { Report } from './report.js';
import { shell } from './shell.js';

/** An installation of docker-compose.yml, balanced, with mailbox and Prometheus, in a directory of its own. */
export interface Stack {
  engine: Engine;
  dir: string;
  url: string;
  mailUrl: string;
  prometheusUrl: string;
  /** Runs `docker compose` with these arguments; returns what it prints. */
  compose: (args: readonly string[], options?: { input?: string }) => Promise<string>;
  /** Runs a script of deploy/ with this engine. */
  script: (name: string, args?: readonly string[]) => Promise<string>;
  /** Ids of the running containers of a service. */
  containers: (service: string) => Promise<string[]>;
  /** Runs SQL as the superuser; returns rows as lines of values separated by `|`. */
  sql: (text: string, service?: string) => Promise<string[]>;
  remove: () => Promise<void>;
}

const FILES = ['docker-compose.yml', 'deploy/compose.balanced.yml', 'deploy/compose.replica.yml'];
/** Every service of the files, for what only Podman needs. */
const SERVICES =
  'api balancer mailpit migrate postgres postgres-replica prometheus settings temporal temporal-namespace temporal-schema temporal-ui tools worker';

/** Podman has no log driver `local`. */
const podmanOverride = (): string =>
  `services:\n${SERVICES.split(' ')
    .map((name) => `  ${name}: { logging: !override { driver: k8s-file } }\n`)
    .join('')}`;

/** Ports that the installation publishes. */
interface Ports {
  api: number;
  mail: number;
  prometheus: number;
  ui: number;
}

/** Clones HEAD into the folder, and makes secrets and settings there. */
async function writeInstallation(dir: string, ports: Ports, isPodman: boolean): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, '..'), { recursive: true });
  await shell(['git', 'clone', '--quiet', resolve('.'), dir]);
  await shell(['sh', 'deploy/create-secrets.sh', '--mailpit'], { cwd: dir });
  if (isPodman) writeFileSync(join(dir, 'podman.override.yml'), podmanOverride());
  const settings = {
    COMPOSE_FILE: [...FILES, ...(isPodman ? ['podman.override.yml'] : [])].join(':'),
    BASE_URL: `http://localhost:${ports.api}`,
    TRUST_PROXY_HOPS: 1,
    API_PORT: ports.api,
    MAILPIT_PORT: ports.mail,
    PROMETHEUS_PORT: ports.prometheus,
    TEMPORAL_UI_PORT: ports.ui,
  };
  appendFileSync(
    join(dir, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
}

/** Returns the commands of an installation in a folder. */
function openStack(engine: Engine, dir: string, ports: Ports): Stack {
  const { env } = engine;
  const words = [...engine.compose, '--profile', 'dev', '--profile', 'monitoring'];
  const compose: Stack['compose'] = (args, options = {}) => shell([...words, ...args], { cwd: dir, env, ...options });
  const scriptEnv = { ...env, COMPOSE: words.join(' '), DOCKER: engine.docker.join(' ') };
  const lines = (printed: string): string[] => printed.split('\n').filter((line) => line !== '');
  const psql = ['psql', '--username=postgres', '--dbname=assent', '--no-align', '--tuples-only'];
  return {
    engine,
    dir,
    url: `http://127.0.0.1:${ports.api}`,
    mailUrl: `http://127.0.0.1:${ports.mail}`,
    prometheusUrl: `http://127.0.0.1:${ports.prometheus}`,
    compose,
    script: (name, args = []) => shell(['sh', join('deploy', name), ...args], { cwd: dir, env: scriptEnv }),
    containers: async (service) => lines(await compose(['ps', '--quiet', service])),
    sql: async (text, service = 'postgres') => lines(await compose(['exec', '-T', service, ...psql], { input: text })),
    remove: async () => void (await compose(['--profile', 'replica', 'down', '--volumes', '--remove-orphans', '--timeout', '5'])),
  };
}

const findDir = (): string => join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'assent', 'production');

/** Returns the installation that an earlier run has kept. @throws Error if there is none */
export function findStack(engine: Engine): Stack {
  const dir = findDir();
  const settings = new Map(
    readFileSync(join(dir, '.env'), 'utf8')
      .split('\n')
      .map((line) => line.split('=') as [string, string]),
  );
  const port = (name: string): number => Number(settings.get(name));
  return openStack(engine, dir, {
    api: port('API_PORT'),
    mail: port('MAILPIT_PORT'),
    prometheus: port('PROMETHEUS_PORT'),
    ui: port('TEMPORAL_UI_PORT'),
  });
}

/**
 * Builds the image of HEAD and starts everything, in place of what an earlier run left.
 * @throws Error with the end of what Compose printed
 */
export async function createStack(engine: Engine, report: Report): Promise<Stack> {
  const dir = findDir();
  const [api = 0, mail = 0, prometheus = 0, ui = 0] = await freePorts(4);
  const ports = { api, mail, prometheus, ui };
  const stack = openStack(engine, dir, ports);
  if (existsSync(dir)) await stack.remove().catch(() => undefined);
  await writeInstallation(dir, ports, engine.isPodman);
  const since = Date.now();
  await stack.compose(['build', '--quiet', 'settings']);
  report.say(`image built in ${Math.round((Date.now() - since) / 1_000)} s`);
  const began = Date.now();
  await stack.compose(['up', '--detach', '--wait']);
  const seconds = Math.round((Date.now() - began) / 1_000);
  report.add('all services healthy after `up --wait`', `${seconds} s`, '120 s', seconds <= 120);
  return stack;
}
