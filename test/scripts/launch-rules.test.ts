import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureInstalled, isInstalled } from '../../scripts/embedded/install.mjs';
import { choosePort, isFree } from '../../scripts/embedded/ports.mjs';
import { startMark } from '../../scripts/embedded/processes.mjs';
import { claim, release, runningState } from '../../scripts/embedded/run-state.mjs';
import { choosePorts } from '../../scripts/embedded/settings.mjs';
import { cachedCliPath, findCli } from '../../scripts/embedded/temporal-cli.mjs';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'assent-rules-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('ports', () => {
  let holder: Server;
  let held: number;
  beforeEach(async () => {
    holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    held = (holder.address() as AddressInfo).port;
  });
  afterEach(() => new Promise((resolve) => holder.close(resolve)));

  test('a taken default moves to the next free one and says from where', async () => {
    const { port, movedFrom } = await choosePort({ name: 'PORT', fallback: held, env: {}, taken: new Set() });
    expect(port).toBeGreaterThan(held);
    expect(movedFrom).toBe(held);
  });

  test('a port that this start has given away counts as taken', async () => {
    const taken = new Set<number>();
    const first = await choosePort({ name: 'A', fallback: held + 1, env: {}, taken });
    const second = await choosePort({ name: 'B', fallback: held + 1, env: {}, taken });
    expect(second.port).not.toBe(first.port);
  });

  test('a port that only ::1 holds is taken: the links on the screen say localhost, and browsers try ::1 first', async () => {
    const other = createServer();
    const here = await new Promise<boolean>((resolve) => {
      other.once('error', () => resolve(false));
      other.listen(0, '::1', () => resolve(true));
    });
    if (!here) return;
    const free = await isFree((other.address() as AddressInfo).port);
    await new Promise((resolve) => other.close(resolve));
    expect(free).toBe(false);
  });

  test('ports that follow another one are told as well', async () => {
    const elsewhere = { DATABASE_URL: 'postgres://elsewhere', TEMPORAL_ADDRESS: 'elsewhere:7233' };
    const { port } = await choosePort({ name: 'PORT', fallback: 20_000, env: {}, taken: new Set() });
    const { ports, moved } = await choosePorts({ ...elsewhere, PORT: String(port) });
    const says = (name: string, leader: string, chosen: number) =>
      expect(moved).toContainEqual(expect.stringMatching(`${name} (follows ${leader}:|is) ${chosen}`));
    says('METRICS_PORT', 'PORT', ports.metrics);
    says('WORKER_METRICS_PORT', 'METRICS_PORT', ports.workerMetrics);
  });

  test('a port that was asked for and is taken is an error with a cure', async () => {
    const wanted = { name: 'PORT', fallback: 3000, env: { PORT: String(held) }, taken: new Set<number>() };
    await expect(choosePort(wanted)).rejects.toMatchObject({ message: `PORT=${held} is taken by another process.` });
    await expect(choosePort({ ...wanted, env: { PORT: 'http' } })).rejects.toThrow('PORT=http is not a port.');
  });
});

describe('one supervisor for a data directory', () => {
  test('a lock of a process that is gone, or is another program by now, is taken over', () => {
    writeFileSync(join(dir, 'start.lock'), JSON.stringify({ pid: 2 ** 22 - 1, mark: '1' }));
    claim(dir);
    release(dir);
    writeFileSync(join(dir, 'start.lock'), JSON.stringify({ pid: process.pid, mark: startMark(process.pid) }));
    claim(dir);
    release(dir);
  });

  test('a state file is believed only while its supervisor runs', () => {
    writeFileSync(join(dir, 'run.json'), JSON.stringify({ pid: process.pid, mark: 'another life', env: {} }));
    expect(runningState(dir)).toBeNull();
    writeFileSync(join(dir, 'run.json'), '{"pid": 1');
    expect(runningState(dir)).toBeNull();
  });
});

describe('where the Temporal CLI comes from', () => {
  const cli = (path: string, version: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho "temporal version 0.0.0-DEV (Server ${version}, UI 2.42.1)"\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const env = (more = {}) => ({ PATH: join(dir, 'bin'), XDG_CACHE_HOME: join(dir, 'cache'), ...more });

  test('the setting, then the PATH when new enough, then the cache, then nothing', async () => {
    expect(await findCli(env())).toBeNull();
    const cached = cli(cachedCliPath(env()), '1.29.1');
    expect(await findCli(env())).toMatchObject({ path: cached, from: 'cache' });
    const onPath = cli(join(dir, 'bin', 'temporal'), '1.28.9');
    expect(await findCli(env())).toMatchObject({ from: 'cache' });
    cli(onPath, '1.30.0');
    expect(await findCli(env())).toMatchObject({ path: onPath, from: 'PATH', version: '1.30.0' });
    const set = cli(join(dir, 'own', 'temporal'), '2.0.0');
    expect(await findCli(env({ TEMPORAL_CLI_PATH: set }))).toMatchObject({ path: set, from: 'TEMPORAL_CLI_PATH' });
  });

  test('a setting that does not do is an error, not passed over', async () => {
    await expect(findCli(env({ TEMPORAL_CLI_PATH: '/nowhere' }))).rejects.toThrow('is not a working Temporal CLI');
    const old = cli(join(dir, 'own', 'temporal'), '1.20.0');
    await expect(findCli(env({ TEMPORAL_CLI_PATH: old }))).rejects.toThrow('holds server 1.20.0, older than 1.29.1');
  });
});

describe('whether to install', () => {
  const write = (file: string, version: string, seconds: number) => {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    const packages = { '': {}, 'node_modules/a': { version }, 'node_modules/mac-only': { version: '1.0.0', optional: true } };
    const entries = Object.entries(packages).filter(([path]) => file === 'package-lock.json' || path === 'node_modules/a');
    writeFileSync(join(dir, file), JSON.stringify({ packages: Object.fromEntries(entries) }));
    utimesSync(join(dir, file), seconds, seconds);
  };
  const hidden = 'node_modules/.package-lock.json';

  test('not installed, older with other versions, older with the same versions, newer', () => {
    write('package-lock.json', '1.0.0', 2_000);
    expect(isInstalled(dir)).toBe(false);
    write(hidden, '0.9.0', 1_000);
    expect(isInstalled(dir)).toBe(false);
    write(hidden, '1.0.0', 1_000);
    expect(isInstalled(dir)).toBe(true);
    write(hidden, '0.9.0', 3_000);
    expect(isInstalled(dir)).toBe(true);
  });

  test('an install runs no script: neither ours nor that of a package', async () => {
    const note = (name: string) => `node -e "require('fs').writeFileSync('${join(dir, name)}', '')"`;
    const [ours, theirs] = [note('ours.ran'), note('theirs.ran')];
    mkdirSync(join(dir, 'local'));
    writeFileSync(
      join(dir, 'local/package.json'),
      JSON.stringify({ name: 'local', version: '1.0.0', scripts: { install: theirs } }),
    );
    const manifest = { name: 'checkout', version: '1.0.0', dependencies: { local: 'file:local' } };
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ ...manifest, scripts: { postinstall: ours } }));
    const entries = {
      '': manifest,
      local: { version: '1.0.0', hasInstallScript: true },
      'node_modules/local': { resolved: 'local', link: true },
    };
    writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ ...manifest, lockfileVersion: 3, packages: entries }));
    expect(await ensureInstalled({ dir, output: 'ignore' })).toBe(true);
    expect(existsSync(join(dir, 'node_modules/local/package.json'))).toBe(true);
    expect(['ours.ran', 'theirs.ran'].filter((name) => existsSync(join(dir, name)))).toEqual([]);
  });
});
