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

it('a setting that is missing, or not one of its values, is named in plain words', async () => {
  const { said } = await run('dist/scripts/check-settings.js', [], {
    NODE_ENV: 'production',
    DATABASE_URL: '',
    AI_PROVIDER: 'openai',
    TEMPORAL_TLS: 'yes',
  });
  expect(said).toContain('  DATABASE_URL: is missing\n');
  expect(said).toContain('  JWT_SECRET: is missing; make one: openssl rand -base64 48\n');
  expect(said).toContain('  AI_PROVIDER: must be rules or openai_compatible or anthropic\n');
  expect(said).toContain('  TEMPORAL_TLS: must be on or off\n');
});

it('npm start says at once that a Temporal of the user does not answer', async () => {
  const temporal = await run('scripts/start.mjs', ['--json'], { TEMPORAL_ADDRESS: '127.0.0.1:1', DATABASE_URL: admin });
  expect(temporal).toMatchObject({ code: 1, said: expect.stringContaining('TEMPORAL_ADDRESS=127.0.0.1:1 (ECONNREFUSED)') });
});

it.each([
  ['migrate', [], 1],
  ['admin', ['list-users'], 1],
  ['secrets-rotate', ['--check'], 1],
  ['forge-replay', ['01a217af-af22-7141-b297-64589889d083'], 1],
  ['audit-verify', [], 2],
  ['audit-archive', ['--before', '2026-01', '--to', '/nowhere'], 2],
] as const)('%s names the setting when PostgreSQL is away or refuses the user', async (name, args, status) => {
  const stranger = new URL(admin);
  stranger.pathname = '/not_there';
  for (const [url, meaning] of [
    ['postgres://127.0.0.1:1/none', 'nothing listens there'],
    [stranger.href, 'that database does not exist'],
  ] as const) {
    const { code, said } = await run(`dist/scripts/${name}.js`, [...args], { DATABASE_URL: url });
    expect(said).toContain(`DATABASE_URL: ${meaning}`);
    expect(said).not.toContain('    at ');
    expect(code).toBe(status);
  }
});

it.each(['migrate', 'admin', 'secrets-rotate', 'forge-replay', 'audit-verify', 'audit-archive'])(
  '%s prints its usage for --help, and refuses an option that it does not know',
  async (name) => {
    const help = await run(`dist/scripts/${name}.js`, ['--help'], {});
    expect(help).toMatchObject({ code: 0, said: expect.stringContaining('npm run ') });
    const unknown = await run(`dist/scripts/${name}.js`, ['--nonsense'], {});
    expect(unknown).toMatchObject({ code: 2, said: expect.stringContaining("Unknown option '--nonsense'") });
    expect(unknown.said).not.toContain('    at ');
  },
);

it.each([
  ['--only', 'nope'],
  ['--alerts', 'AssentNope'],
])('npm run production refuses %s %s before it starts anything', async (option, name) => {
  // Without programs on the PATH no engine could be reached, whatever the command does.
  const { code, said } = await run('dist/scripts/production.js', [option, name], { PATH: '/nowhere' });
  expect(code).toBe(2);
  expect(said).toMatch(new RegExp(`^Unknown: ${name}\n`));
});

it.each(['capacity', 'soak', 'chaos', 'fuzz', 'bench', 'bench-growth', 'timing', 'production'])(
  'npm run %s answers an unknown option with its usage',
  async (name) => {
    const { code, said } = await run(`dist/scripts/${name}.js`, ['--nonsense'], { PATH: '/nowhere' });
    expect(code).toBe(2);
    expect(said).toContain("Unknown option '--nonsense'");
    expect(said).toContain('npm run ');
    expect(said).not.toContain('    at ');
  },
);
