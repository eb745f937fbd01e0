import type { Socket } from 'node:net';
import type { Knex } from 'knex';
import { openDatabase } from '../../db/connection.js';
import { run, runAtOnce, runEach } from '../../db/statement.js';
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

it('a name may pass to another text, whose plan the connection keeps instead', async () => {
  const kept = () =>
    db.transaction(async (trx) => {
      const texts: unknown[] = [];
      for (const text of [
        'select 1 as one',
        'select 2 as two, $1::int as more',
        'select 2 as two, $1::int as more',
        'select 1 as one',
      ]) {
        await run(trx, { name: 'pg_internals_passed', text }, text.includes('$1') ? [3] : []);
        const { rows } = await trx.raw("select statement from pg_prepared_statements where name = 'pg_internals_passed'");
        texts.push(rows);
      }
      return texts;
    });
  const [one, two] = [[{ statement: 'select 1 as one' }], [{ statement: 'select 2 as two, $1::int as more' }]];
  expect(await kept()).toEqual([one, two, two, one]);
});

describe('statements sent at once', () => {
  const statement = (name: string, text: string) => ({ statement: { name: `at_once_${name}`, text }, values: [] });
  const writes = () => [
    statement('write', "insert into rate_limits (key, points, expire) values ('at once', 1, 1) returning points"),
    statement('setting', "select set_config('statement_timeout', '50', true)"),
  ];

  it('are one write to the socket and one transaction', async () => {
    const stream = client.connection.stream as unknown as { _writev: (chunks: unknown[], done: unknown) => void };
    const written: number[] = [];
    const writev = stream._writev.bind(stream);
    stream._writev = (chunks, done) => {
      written.push(chunks.length);
      writev(chunks, done);
    };
    const pinned = {
      client: { acquireConnection: async () => client, releaseConnection: async () => undefined },
    } as unknown as Knex;
    expect(await runAtOnce(pinned, writes())).toMatchObject([[{ points: 1 }], [{ set_config: '50ms' }]]);
    expect(written).toHaveLength(1);
    const after = await client.query({ name: 'at_once_after', text: 'show statement_timeout', values: [] });
    expect(after.rows).toEqual([{ statement_timeout: '10s' }]);
  });

  it('are undone together when one fails, and the connection goes on', async () => {
    await db('rate_limits').where({ key: 'at once' }).delete();
    await expect(runAtOnce(db, [...writes(), statement('slow', 'select pg_sleep(1)')])).rejects.toMatchObject({ code: '57014' });
    expect(await db('rate_limits').where({ key: 'at once' })).toEqual([]);
    expect(await run(db, { name: 'at_once_one', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
  });

  it('are refused inside a transaction', () =>
    db.transaction((transaction) => expect(runAtOnce(transaction, [])).rejects.toThrow('of their own')));
});

it('runEach hands on rows as they arrive, and throws what breaks them off', async () => {
  const rows: unknown[] = [];
  const statement = { name: 'pg_internals_each', text: 'select n, 10 / (3 - n) from generate_series(1, $1::int) n' };
  expect(await runEach(db, statement, [2], (row) => rows.push(row))).toBe(2);
  expect(rows).toEqual([
    [1, 5],
    [2, 10],
  ]);
  await expect(runEach(db, statement, [4], () => undefined)).rejects.toThrow('division by zero');
  expect(await runEach(db, statement, [1], () => undefined)).toBe(1);
});
