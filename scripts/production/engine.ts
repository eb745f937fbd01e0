import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import { shell } from './shell.js';

/** What runs containers. */
export interface Engine {
  /** The command of Compose, and that of the engine, as words. */
  compose: string[];
  docker: string[];
  env: NodeJS.ProcessEnv;
  isPodman: boolean;
  /** Runs this without health checks beside it: Podman has no daemon that runs them, and a dozen processes at once slow each of its commands. */
  alone: <T>(work: () => Promise<T>) => Promise<T>;
  stop: () => void;
}

const SCRIPTS = resolve('scripts/production/podman');
/** Interval of health checks, ms: Podman leaves them to systemd, which containers of CI do not have. */
const HEALTH_MS = 3_000;

const works = (command: string[]): Promise<boolean> =>
  shell(command).then(
    () => true,
    () => false,
  );

/** Runs the health checks of all containers of the project again and again. */
function checkHealth(env: NodeJS.ProcessEnv): Pick<Engine, 'alone' | 'stop'> {
  let stopped = false;
  let looking = Promise.resolve();
  let paused = false;
  const lookOnce = async (): Promise<void> => {
    const ids = await shell(['podman', 'ps', '--quiet', '--filter', 'label=com.docker.compose.project=assent'], { env }).catch(
      () => '',
    );
    const checks = ids.split('\n').filter((id) => id !== '');
    await Promise.all(checks.map((id) => shell(['podman', 'healthcheck', 'run', id], { env }).catch(() => undefined)));
  };
  const look = async (): Promise<void> => {
    if (!paused) await (looking = lookOnce());
    if (!stopped) setTimeout(() => void look(), HEALTH_MS).unref();
  };
  void look();
  return {
    async alone(work) {
      paused = true;
      await looking;
      return work().finally(() => (paused = false));
    },
    stop() {
      stopped = true;
    },
  };
}

/**
 * Returns the Docker Engine of this machine, or else Podman, which it installs and provides with stand-ins of the images.
 * @throws Error where neither is possible
 */
export async function prepareEngine(): Promise<Engine> {
  if (await works(['docker', 'info'])) {
    return {
      compose: ['docker', 'compose'],
      docker: ['docker'],
      env: process.env,
      isPodman: false,
      alone: (work) => work(),
      stop: () => undefined,
    };
  }
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error('There is no Docker Engine. Install one, or run this as root on Debian, where Podman is installed instead.');
  }
  const CONTAINERS_DIR = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'assent', 'containers');
  const env = { ...process.env, CONTAINERS_DIR, DOCKER_HOST: `unix://${CONTAINERS_DIR}/podman.sock`, DOCKER_BUILDKIT: '0' };
  for (const script of ['install.sh', 'images.sh']) await shell(['sh', join(SCRIPTS, script)], { env, shows: true });
  const compose = [join(CONTAINERS_DIR, 'build', 'bin', 'docker-compose')];
  return { compose, docker: ['podman'], env, isPodman: true, ...checkHealth(env) };
}
