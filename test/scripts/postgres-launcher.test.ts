import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { StartError } from '../../scripts/embedded/errors.mjs';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { type Postgres, startPostgres } from '../../scripts/embedded/postgres.mjs';
import { canReach, clusterDir, ensureLinks, serviceUser, temporaryParent } from '../../scripts/embedded/postgres-files.mjs';
import { alive } from '../../scripts/embedded/processes.mjs';

let base: string;
let port: number;
let running: Postgres | null = null;

const start = async (): Promise<Postgres> => {
  running = await startPostgres({ base, port, log: join(base, 'postgres.log'), mode: 'test' });
  return running;
};

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  base = mkdtempSync(join(temporaryParent(serviceUser()), 'assent-launcher-'));
  chmodSync(base, 0o711);
  port = await anyFreePort();
  const { url } = await start();
  await query(url, 'CREATE TABLE kept AS SELECT 7 AS value');
});

afterAll(async () => {
  await running?.stop();
  rmSync(base, { recursive: true, force: true });
});

describe('one cluster through its accidents', () => {
  test('the password is private and the server listens on loopback only', async () => {
    const [row] = await query<{ addresses: string }>(running!.url, "SELECT current_setting('listen_addresses') AS addresses");
    expect(row?.addresses).toBe('127.0.0.1');
    const wrong = running!.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed');
  });

  test('a start on a live data directory stops the orphan and keeps the data', async () => {
    const orphan = running!.pid;
    const { url, pid } = await start();
    expect(pid).not.toBe(orphan);
    expect(alive(orphan)).toBe(false);
    expect(await query(url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  });

  test('after kill -9 of the server, with a session open, it starts again', async () => {
    const session = new pg.Client(running!.url);
    session.on('error', () => {});
    await session.connect();
    process.kill(running!.pid, 'SIGKILL');
    const { url } = await start();
    expect(await query(url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    await session.end().catch(() => {});
  });

  test('a pid file that names another living process does not keep it from starting', async () => {
    await running!.stop();
    const user = serviceUser();
    const stranger = spawn('sleep', ['60'], user ? { uid: user.uid, gid: user.gid, cwd: '/' } : {});
    writeFileSync(join(running!.cluster, 'postmaster.pid'), `${stranger.pid}\n${running!.cluster}\n`);
    const { url } = await start();
    expect(await query(url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    expect(alive(stranger.pid!)).toBe(true);
    stranger.kill();
  });

  test('a lost password file is replaced', async () => {
    await running!.stop();
    rmSync(join(base, 'postgres-password'));
    const { url } = await start();
    expect(await query(url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  });

  test('a port taken in the meantime is told with a cure', async () => {
    await running!.stop();
    const thief = createServer().listen(port, '127.0.0.1');
    await expect(start()).rejects.toMatchObject({
      message: expect.stringContaining('the port is taken'),
      cures: expect.arrayContaining([expect.stringContaining('PG_PORT')]),
    });
    await new Promise((resolve) => thief.close(resolve));
  });

  test('data of another major version is refused and left alone', async () => {
    const file = join(running!.cluster, 'PG_VERSION');
    writeFileSync(file, '17\n');
    await expect(start()).rejects.toThrow(StartError);
    await expect(start()).rejects.toThrow('belongs to PostgreSQL 17');
    expect(readFileSync(file, 'utf8')).toBe('17\n');
    writeFileSync(file, '18\n');
    await start();
  });
});

test('missing library links are made, present ones kept', () => {
  const dir = join(base, 'package');
  mkdirSync(join(dir, 'native', 'lib'), { recursive: true });
  const links = ['libx.so', 'libx.so.1', 'liby.so'].map((name) => ({
    source: 'native/lib/libx.so.1.2',
    target: `native/lib/${name}`,
  }));
  writeFileSync(join(dir, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  writeFileSync(join(dir, 'native', 'lib', 'libx.so.1.2'), 'library');
  symlinkSync('gone', join(dir, 'native', 'lib', 'liby.so'));
  expect(ensureLinks(dir)).toBe(3);
  expect(readFileSync(join(dir, 'native', 'lib', 'liby.so'), 'utf8')).toBe('library');
  expect(ensureLinks(dir)).toBe(0);
});

describe('a project below a private directory', () => {
  const stranger = { name: 'stranger', uid: 54_321, gid: 54_321 };

  test('is seen as out of reach for another user, and for nobody else', () => {
    const closed = join(base, 'closed');
    mkdirSync(join(closed, 'data'), { recursive: true });
    chmodSync(closed, 0o700);
    expect(canReach(stranger, join(closed, 'data'))).toBe(false);
    expect(canReach(stranger, base)).toBe(true);
    expect(canReach(null, join(closed, 'data'))).toBe(true);
  });

  (process.getuid?.() === 0 ? test : test.skip)('keeps its cluster elsewhere, under a name it remembers', () => {
    const data = join(base, 'closed', 'data');
    const cluster = clusterDir(data, stranger);
    expect(cluster.startsWith(base)).toBe(false);
    expect(canReach(stranger, join(cluster, '..'))).toBe(true);
    expect(clusterDir(data, stranger)).toBe(cluster);
    rmSync(join(cluster, '..'), { recursive: true });
    expect(existsSync(cluster)).toBe(false);
  });
});
