import type { Socket } from 'node:net';
import type { Knex } from 'knex';
import { openDatabase } from '../../db/connection.js';
import { run } from '../../db/statement.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';

// db/connection.ts and db/statement.ts reach into what pg and knex keep private. These tests fail when a new version changes it.

interface RawClient {
  readyForQuery: boolean;
  connection: { stream: Socket };
  query: (config: { name: string; text: string; values: unknown[] }) => Promise<{ rows: unknown[] }>;
}
interface RawPool {
  acquireConnection: () => Promise<RawClient>;
  releaseConnection: (client: RawClient) => Promise<void>;
}

let database: TestDatabase;
let db: Knex;
let pool: RawPool;
let client: RawClient;
beforeAll(async () => {
  database = await cloneDatabase();
  db = openDatabase({ url: database.url, poolSize: 2, name: 'pg-internals' });
  pool = db.client as unknown as RawPool;
  client = await pool.acquireConnection();
});
afterAll(async () => {
  await pool.releaseConnection(client);
  await db.destroy();
  await database.drop();
});

it('a connection tells whether it waits for a response', async () => {
  expect(client.readyForQuery).toBe(true);
  const response = client.query({ name: 'pg_internals', text: 'select pg_sleep(0.01)', values: [] });
  await new Promise(setImmediate);
  expect(client.readyForQuery).toBe(false);
  await response;
  expect(client.readyForQuery).toBe(true);
});

it('a connection has the socket whose timeout closes it', () => {
  const { stream } = client.connection;
  expect([typeof stream.setTimeout, typeof stream.destroy, stream.destroyed]).toEqual(['function', 'function', false]);
  expect(stream.listenerCount('timeout')).toBeGreaterThan(0);
});

it('a named statement is prepared on the connection and keeps its plan', async () => {
  await run(db, { name: 'pg_internals_kept', text: 'select $1::int as one' }, [1]);
  const kept = await run<{ name: string }>(
    db,
    { name: 'pg_internals_list', text: 'select name from pg_prepared_statements where name = $1' },
    ['pg_internals_kept'],
  );
  expect(kept).toEqual([{ name: 'pg_internals_kept' }]);
});
