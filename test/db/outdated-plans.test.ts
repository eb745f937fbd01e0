import { type Context, inTransaction } from '../../api/platform/context.js';
import { run, runAtOnce, runEach } from '../../db/statement.js';
import { startApp, type TestApp } from '../support/app.js';

// During an upgrade the old version runs on the new schema: a column more changes the result of statements that it has prepared.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await db().raw('create table upgraded (id int); insert into upgraded values (7)');
});
afterAll(() => app.close());

const db = () => app.services.db;
const statement = { name: 'read_upgraded', text: 'select * from upgraded' };
const POOL = 10;
let columns = 0;

interface RawPool {
  acquireConnection: () => Promise<{ query: (config: object) => Promise<unknown> }>;
  releaseConnection: (connection: object) => Promise<void>;
}

/** Prepares the statement on many connections at once, also on those with the plan before the last upgrade, then adds a column, as a migration would. */
async function upgrade(): Promise<void> {
  const ctx = app.services as unknown as Context;
  await Promise.all(
    Array.from({ length: POOL }, () =>
      inTransaction(ctx, async ({ db: trx }) => {
        await run(trx, statement, []);
        await trx.raw('select pg_sleep(0.05)');
      }),
    ),
  );
  await db().raw(`alter table upgraded add column c${(columns += 1)} int`);
}

it('PostgreSQL refuses the prepared statement on its connection for ever', async () => {
  const pool = db().client as unknown as RawPool;
  const connection = await pool.acquireConnection();
  const read = () => connection.query({ ...statement, name: 'read_upgraded_by_hand', values: [] });
  await read();
  await db().raw('alter table upgraded add column more int');
  for (const _time of [1, 2]) await expect(read()).rejects.toMatchObject({ code: '0A000' });
  await pool.releaseConnection(connection);
});

it('no request notices: single statements, streams, statements at once and transactions', async () => {
  await upgrade();
  expect(await Promise.all(Array.from({ length: 2 * POOL }, () => run(db(), statement, [])))).toHaveLength(2 * POOL);
  await upgrade();
  let seen = 0;
  expect(await runEach(db(), statement, [], () => (seen += 1))).toBe(1);
  expect(seen).toBe(1);
  await upgrade();
  expect(await runAtOnce(db(), [{ statement, values: [] }])).toMatchObject([[{ id: 7 }]]);
  await upgrade();
  const ctx = app.services as unknown as Context;
  const read = () => inTransaction(ctx, ({ db: trx }) => run(trx, statement, []));
  for (const rows of await Promise.all(Array.from({ length: 2 * POOL }, read))) expect(rows).toMatchObject([{ id: 7 }]);
});
