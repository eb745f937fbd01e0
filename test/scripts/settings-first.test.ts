import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';

const root = resolve(import.meta.dirname, '../..');
const admin = process.env['ASSENT_TEST_PG_URL'] as string;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'assent-settings-'));
});
afterEach(() => {
  const cluster = findCluster(dir);
  if (cluster) rmSync(join(cluster, '..'), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

/** Where a start would keep its cluster, if it chose another place than the data directory. */
function findCluster(data: string): string | undefined {
  const note = join(data, 'postgres.json');
  return existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as { cluster: string }).cluster : undefined;
}

/** Runs a program of ours to its end with these settings. */
async function run(
  file: string,
  args: string[],
  settings: Record<string, string>,
): Promise<{ code: number | null; said: string }> {
  const env = { ...process.env, NODE_ENV: 'development', DATA_DIR: dir, ...settings };
  const child = spawn(process.execPath, [join(root, file), ...args], { cwd: root, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, said };
}

async function query<T extends pg.QueryResultRow>(url: string, statement: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<T>(statement);
  await client.end();
  return rows;
}

const WRONG = { LOG_LEVEL: 'loud' };
const list = /Invalid configuration:\n[\s\S]*LOG_LEVEL: /;

it('npm start lists wrong settings, and has started no server by then', async () => {
  const { code, said } = await run('scripts/start.mjs', ['--json'], WRONG);
  expect(code).toBe(1);
  expect(said).toMatch(list);
  expect(said).toContain('.env.example');
  expect(existsSync(join(findCluster(dir) ?? join(dir, 'postgres'), 'PG_VERSION'))).toBe(false);
  expect(['logs/postgres.log', 'logs/temporal.log', 'temporal'].filter((name) => existsSync(join(dir, name)))).toEqual([]);
});

it('a migration with demo data lists wrong settings, and has changed nothing by then', async () => {
  const name = `settings_${Date.now()}`;
  await query(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = name;
  const { code, said } = await run('dist/scripts/migrate.js', ['--seed-demo'], { ...WRONG, DATABASE_URL: url.href });
  const [tables] = await query<{ count: string }>(url.href, "select count(*) from pg_tables where schemaname = 'public'");
  await query(admin, `drop database ${name}`);
  expect([code, Number(tables?.count)]).toEqual([1, 0]);
  expect(said).toMatch(list);
});

it('check-settings says so, and reaches for nothing', async () => {
  const away = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
  expect(await run('dist/scripts/check-settings.js', [], away)).toEqual({ code: 0, said: 'the settings are usable\n' });
  const { code, said } = await run('dist/scripts/check-settings.js', [], { ...away, ...WRONG });
  expect(code).toBe(1);
  expect(said).toMatch(list);
});
