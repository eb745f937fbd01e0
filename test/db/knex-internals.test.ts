/** Assumptions of db/knex-internals.ts about knex: a new version that behaves differently fails here. */
import type { Knex } from 'knex';
import { openDatabase } from '../../db/connection.js';
import { countedFor, poolUse, wrapPool } from '../../db/knex-internals.js';
import { Team } from '../../db/models/team.js';
import { run } from '../../db/statement.js';
import { cloneDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let db: Knex;
beforeAll(async () => {
  database = await cloneDatabase();
  db = openDatabase({ url: database.url, poolSize: 4, name: 'knex-internals', acquireTimeoutMs: 2_000 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const HOLDER = { person: 'ada', teams: ['team'], fairnessKey: 'team' };
const counted = () => countedFor(db, () => HOLDER);

/** What knex says that it sends while `work` runs. */
async function sentBy(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const note = ({ sql }: { sql: string }) => sent.push(sql);
  db.on('query', note);
  await work();
  db.removeListener('query', note);
  return sent;
}
const xid = async (on: Knex) =>
  (await on.raw<{ rows: { xid: string }[] }>('select pg_current_xact_id()::text as xid')).rows[0]?.xid;

it('a transaction begins with its first statement, and is one', async () => {
  let xids: (string | undefined)[] = [];
  const sent = await sentBy(() =>
    db.transaction(async (trx) => {
      xids = [await xid(trx), await xid(trx)];
    }),
  );
  expect(xids[0]).toBeDefined();
  expect(xids[0]).toBe(xids[1]);
  expect(sent.filter((sql) => sql.startsWith('BEGIN'))).toEqual([]);
  expect(sent.at(-1)).toBe('COMMIT;');
});

it('rolls back a transaction, or a savepoint alone', async () => {
  await db.raw('create table probe (n int)');
  await db.transaction(async (trx) => {
    await trx('probe').insert({ n: 1 });
    await trx
      .transaction(async (inner) => {
        await inner('probe').insert({ n: 2 });
        throw new Error('undo this');
      })
      .catch(() => undefined);
  });
  await db
    .transaction((trx) =>
      trx('probe')
        .insert({ n: 3 })
        .then(() => Promise.reject(new Error('undo'))),
    )
    .catch(() => undefined);
  expect(await db('probe').pluck('n')).toEqual([1]);
});

it('a transaction with a mode of its own keeps it', async () => {
  const rows = await db.transaction((trx) => trx.raw('show transaction_isolation'), { isolationLevel: 'serializable' });
  expect(rows.rows).toHaveLength(1);
});

it('every way to a connection is counted, and given back', async () => {
  const uses: number[] = [];
  const held = () => poolUse(db).used;
  const view = counted();
  const slow = 'select pg_sleep(0.05)';
  const ways: Record<string, () => PromiseLike<unknown>> = {
    raw: () => view.raw(slow),
    builder: () => view('users').select(view.raw('pg_sleep(0.05)')).limit(1),
    'builder without a function call': () => view.select(view.raw('pg_sleep(0.05)')),
    transaction: () => view.transaction((trx) => trx.raw(slow)),
    statement: () => run(view, { name: 'slow', text: slow }, []),
    model: () => Team.query(view).whereRaw('pg_sleep(0.05) is not null').limit(1),
    'a transaction kept open': async () => {
      const trx = await view.transaction();
      await trx.raw(slow);
      await trx.rollback();
    },
    'one that fails': () => view.raw('select 1/0').catch(() => undefined),
  };
  for (const [what, way] of Object.entries(ways)) {
    const done = Promise.resolve(way());
    await new Promise((resolve) => setImmediate(resolve));
    uses.push(held());
    await done;
    expect([what, held()]).toEqual([what, 0]);
  }
  expect(uses).toEqual(Object.keys(ways).map(() => 1));
});

it('counts a connection for its holder, and the pool for no one', async () => {
  const open = await Promise.all([counted().transaction(), counted().transaction()]);
  await expect(counted().raw('select 1')).rejects.toThrow('No connection was free in time');
  await expect(counted().raw('select 1')).rejects.toMatchObject({ name: 'KnexTimeoutError' });
  await db.raw('select 1');
  await Promise.all(open.map((trx) => trx.rollback()));
  await counted().raw('select 1');
  expect(poolUse(db)).toEqual({ size: 4, used: 0, waiting: 0 });
});

it('knows the pool behind it', async () => {
  const view = counted();
  expect(wrapPool(view)).toBe(db);
  expect(wrapPool(db)).toBe(db);
  await view.transaction(async (trx) => expect(wrapPool(trx)).toBe(trx));
  expect(view.isTransaction).toBeFalsy();
});
