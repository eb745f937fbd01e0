import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readiness } from '../../../api/platform/telemetry/ops-server.js';
import { MIGRATION_NAMES } from '../../../db/migrations/index.js';
import { SCHEMA_EXIT_STATUS } from '../../../db/schema/check-schema.js';
import { killApiProcesses, startApiProcess } from '../../resilience/api-process.js';
import { startApp, type TestApp } from '../../support/app.js';
import { startPooler } from './pooler.js';

let app: TestApp;

beforeEach(async () => {
  app = await startApp();
});
afterEach(async () => {
  killApiProcesses();
  await app.close();
});

const migrations = () => app.services.db('knex_migrations');
const writeNext = () => migrations().insert({ name: '9999_next', batch: 9, migration_time: new Date() });
const needVersion = (oldest_version: string) => app.services.db('schema_compatibility').update({ oldest_version });

const SCHEMAS = [
  [
    'older',
    () =>
      migrations()
        .where({ name: MIGRATION_NAMES.at(-1) })
        .delete(),
    /is older than this build: .* Run the migrate step/,
  ],
  [
    'newer',
    async () => {
      await writeNext();
      await needVersion('99.0.0');
    },
    /is newer than this build: it needs version 99\.0\.0 or later/,
  ],
] as const;

/** Starts a process over the app's database that is expected to end; returns its exit code and its log. */
async function startAndEnd(file: string, url = app.database.url): Promise<{ status: number | null; log: string }> {
  const { config } = app.services;
  const env = {
    ...process.env,
    DATABASE_URL: url,
    DATA_DIR: config.DATA_DIR,
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
    WORKFLOW_BUNDLE: config.WORKFLOW_BUNDLE,
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    PORT: '0',
    METRICS_PORT: '0',
    WORKER_METRICS_PORT: '0',
  };
  const child = spawn(process.execPath, [join(process.cwd(), 'dist', file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, log: Buffer.concat(lines).toString() };
}

describe.each(SCHEMAS)('the schema is %s', (_what, change, words) => {
  it.each(['api/server.js', 'activities/worker.js'])('%s ends, and says what to do', async (file) => {
    await change();
    const { status, log } = await startAndEnd(file);
    expect(status).toBe(SCHEMA_EXIT_STATUS);
    expect(log).toMatch(words);
    expect(log).not.toMatch(/listening|polling/);
  });

  it('a process that runs already is not ready any more', async () => {
    expect(await readiness(app.services.db)).toMatchObject({ ready: true });
    await change();
    expect(await readiness(app.services.db)).toMatchObject({
      ready: false,
      checks: { postgres: { ok: true }, migrations: { ok: false, detail: expect.stringMatching(words) as unknown } },
    });
  });
});

describe('a pooler between the API and PostgreSQL', () => {
  const change = (setting: string) =>
    app.services.db.raw(`do $$ begin execute format('alter database %I ${setting}', current_database()); end $$`);
  afterEach(() => change('reset statement_timeout'));

  it.each([
    ['that refuses the settings of a connection', true, '0'],
    ['that drops the settings of a connection', false, '0'],
    ['that drops them and has time limits of its own', false, '10s'],
  ])('%s is refused by name at the start', async (_what, refuses, limit) => {
    await change(`set statement_timeout = ''${limit}''`);
    const pooler = await startPooler(app.database.url, refuses);
    try {
      const { status, log } = await startAndEnd('api/server.js', pooler.url);
      expect(status).toBe(SCHEMA_EXIT_STATUS);
      expect(log).toMatch(/DATABASE_URL leads to a connection pooler such as PgBouncer/);
      expect(log).not.toMatch(/listening/);
    } finally {
      pooler.close();
    }
  });
});

it('the API runs on a newer schema that says that it can', async () => {
  await writeNext();
  const api = await startApiProcess(app);
  expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(200);
  expect(await api.stop()).toBe(0);
});

it('the API starts without PostgreSQL, and is not ready', async () => {
  const api = await startApiProcess(app, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect((await fetch(`${api.opsUrl}/livez`)).status).toBe(200);
  expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(503);
  expect(await api.stop()).toBe(0);
  expect(api.log()).toContain('the schema of the database could not be read; trying again');
});
