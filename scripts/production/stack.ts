import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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

/** Clones HEAD, makes secrets and settings, builds the image and starts everything. @throws Error with the end of what Compose printed */
export async function createStack(engine: Engine, report: Report): Promise<Stack> {
  const dir = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'assent', 'production');
  const [api, mail, prometheus, ui] = await freePorts(4);
  const env = { ...engine.env };
  const compose: Stack['compose'] = (args, options = {}) =>
    shell([...engine.compose, '--profile', 'dev', '--profile', 'monitoring', ...args], { cwd: dir, env, ...options });
  const stack: Stack = {
    engine,
    dir,
    url: `http://127.0.0.1:${api}`,
    mailUrl: `http://127.0.0.1:${mail}`,
    prometheusUrl: `http://127.0.0.1:${prometheus}`,
    compose,
    script: (name, args = []) =>
      shell(['sh', join('deploy', name), ...args], {
        cwd: dir,
        env: {
          ...env,
          COMPOSE: `${engine.compose.join(' ')} --profile dev --profile monitoring`,
          DOCKER: engine.docker.join(' '),
        },
      }),
    containers: async (service) => (await compose(['ps', '--quiet', service])).split('\n').filter((id) => id !== ''),
    sql: async (text, service = 'postgres') =>
      (
        await compose(['exec', '-T', service, 'psql', '--username=postgres', '--dbname=assent', '--no-align', '--tuples-only'], {
          input: text,
        })
      )
        .split('\n')
        .filter((line) => line !== ''),
    remove: () => compose(['down', '--volumes', '--remove-orphans', '--timeout', '5']).then(() => undefined),
  };
  if (
    await shell(['test', '-d', dir]).then(
      () => true,
      () => false,
    )
  ) {
    await stack.remove().catch(() => undefined);
    rmSync(dir, { recursive: true });
  }
  mkdirSync(join(dir, '..'), { recursive: true });
  await shell(['git', 'clone', '--quiet', resolve('.'), dir]);
  await shell(['sh', 'deploy/create-secrets.sh', '--mailpit'], { cwd: dir });
  if (engine.isPodman) writeFileSync(join(dir, 'podman.override.yml'), podmanOverride());
  const files = [...FILES, ...(engine.isPodman ? ['podman.override.yml'] : [])].join(':');
  appendFileSync(
    join(dir, '.env'),
    [
      `COMPOSE_FILE=${files}`,
      `BASE_URL=http://localhost:${api}`,
      'TRUST_PROXY_HOPS=1',
      `API_PORT=${api}`,
      `MAILPIT_PORT=${mail}`,
      `PROMETHEUS_PORT=${prometheus}`,
      `TEMPORAL_UI_PORT=${ui}`,
      '',
    ].join('\n'),
  );
  const since = Date.now();
  await compose(['build', '--quiet', 'settings']);
  report.say(`image built in ${Math.round((Date.now() - since) / 1_000)} s`);
  const began = Date.now();
  await compose(['up', '--detach', '--wait']);
  const seconds = Math.round((Date.now() - began) / 1_000);
  report.add('all services healthy after `up --wait`', `${seconds} s`, '120 s', seconds <= 120);
  return stack;
}
