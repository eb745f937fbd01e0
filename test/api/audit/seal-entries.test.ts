import type { Knex } from 'knex';
import { HASHED_FIELDS, INSTANCE_CHAIN } from '../../../api/audit/chain.js';
import { sealEntries } from '../../../api/audit/seal-entries.js';
import { startSealer } from '../../../api/audit/sealer.js';
import { verifyChain } from '../../../api/audit/verify-chain.js';
import { openDatabase } from '../../../db/connection.js';
import { buildProject, buildTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { rowsRead } from '../../support/rows-read.js';
import { type AuditLog, newTeamId, openAuditLog, tamper, writeEntries } from './support.js';

let log: AuditLog;
beforeEach(async () => {
  log = await openAuditLog();
});
afterEach(() => log.close());

const listErrorChain = (db: Knex, chain: string) => db('audit_seals').where({ chain }).orderBy('sequence');
const pending = async (db: Knex) => Number((await db('audit_pending').count())[0]?.['count']);

it('gives every chain its own numbers, in the order of timestamp and id', async () => {
  const { db } = log;
  const team = newTeamId();
  for (const owner of [team, null, team, team]) await writeEntries(db, owner, 2);
  expect(await sealEntries(db)).toEqual({ sealed: 8, rejected: 0, refused: [], busy: [] });
  expect(await sealEntries(db)).toMatchObject({ sealed: 0 });
  const ids = (await db('audit_entries').where({ team_id: team }).orderBy(['timestamp', 'audit_id'])).map((row) => row.audit_id);
  const seals = await listErrorChain(db, team);
  expect(seals.map((seal) => [seal.sequence, seal.audit_id])).toEqual(ids.map((id, i) => [i + 1, id]));
  expect(await listErrorChain(db, INSTANCE_CHAIN)).toHaveLength(2);
  expect(await db('audit_heads').orderBy('sequence')).toMatchObject([
    { chain: INSTANCE_CHAIN, sequence: 2 },
    { chain: team, sequence: 6, entry_hash: seals.at(-1).entry_hash },
  ]);
});

it('hashes every column of the table, and nothing but the documented bytes: SQL comes to the same hash', async () => {
  const { db } = log;
  const columns = await db('information_schema.columns')
    .where({ table_name: 'audit_entries' })
    .orderBy('ordinal_position')
    .pluck('column_name');
  expect(columns).toEqual([...HASHED_FIELDS]);
  await writeEntries(db, null, 3);
  await sealEntries(db);
  const fields = HASHED_FIELDS.map((field) => {
    const bytes = `convert_to(e.${field}::text, 'UTF8')`;
    return `case when e.${field} is null then '\\x00'::bytea else '\\x01'::bytea || int4send(octet_length(${bytes})) || ${bytes} end`;
  });
  const { rows } = await db.raw(`
    select s.entry_hash, sha256('\\x01'::bytea || int8send(s.sequence) || s.prev_hash || ${fields.join(' || ')}) as computed
    from audit_seals s join audit_entries e using (audit_id)`);
  expect(rows).toHaveLength(3);
  for (const { entry_hash, computed } of rows) expect(computed).toEqual(entry_hash);
});

it('an entry that commits late is sealed later, and no entry is skipped', async () => {
  const { db } = log;
  const team = newTeamId();
  const late = await db.transaction();
  await writeEntries(late, team);
  await writeEntries(db, team, 3);
  expect(await sealEntries(db)).toMatchObject({ sealed: 3 });
  expect(await verifyChain(log)).toMatchObject({ entries: 3, breaks: [] });
  await writeEntries(db, team, 3);
  await late.commit();
  expect(await sealEntries(db)).toMatchObject({ sealed: 4 });
  const [first] = await db('audit_entries').where({ team_id: team }).orderBy('timestamp');
  expect((await listErrorChain(db, team)).map((seal) => seal.audit_id).indexOf(first.audit_id)).toBe(3);
  expect(await verifyChain(log)).toMatchObject({ entries: 7, breaks: [] });
});

it('leaves no gap after a rollback', async () => {
  const { db } = log;
  const team = newTeamId();
  const undone = await db.transaction();
  await writeEntries(undone, team, 2);
  await undone.rollback();
  await writeEntries(db, team, 2);
  expect(await sealEntries(db)).toMatchObject({ sealed: 2 });
  expect(await verifyChain(log)).toMatchObject({ chains: 1, entries: 2, breaks: [] });
});

it('20 callers at once seal 2,500 entries of 5 chains once', async () => {
  const { db } = log;
  for (const team of [null, newTeamId(), newTeamId(), newTeamId(), newTeamId()]) await writeEntries(db, team, 500);
  const reports = await Promise.all(Array.from({ length: 20 }, () => sealEntries(db)));
  expect(reports.reduce((sum, { sealed }) => sum + sealed, 0)).toBe(2_500);
  expect(await verifyChain(log)).toMatchObject({ chains: 5, entries: 2_500, breaks: [] });
});

it('refuses a chain whose head is not its last seal, and goes on with the others', async () => {
  const { db } = log;
  const [bad, good] = [newTeamId(), newTeamId()];
  await writeEntries(db, bad, 3);
  await sealEntries(db);
  await tamper(db, ['delete from audit_heads where chain = ?', bad]);
  // More than a batch of the refused chain in front of the sound one.
  await writeEntries(db, bad, 1_200);
  await writeEntries(db, good, 2);
  expect(await sealEntries(db)).toMatchObject({ sealed: 2, refused: [{ chain: bad, reason: 'its head is not its last seal' }] });
  expect(await pending(db)).toBe(1_200);
  expect(await verifyChain(log)).toMatchObject({
    breaks: [{ kind: 'head_mismatch', chain: bad }, { kind: 'sealing_blocked' }, { kind: 'entry_stuck' }],
  });
});

it('reads only what it seals, also with plans that were made while nothing was sealed', async () => {
  // One connection, which keeps its plans.
  const db = openDatabase({ url: log.database.url, poolSize: 1, name: 'assent-test', acquireTimeoutMs: 30_000 });
  const team = newTeamId();
  for (let i = 0; i < 10; i += 1) await writeEntries(db, team, 3_000);
  await sealEntries(db);
  await writeEntries(db, newTeamId(), 20);
  const read = await rowsRead(db, 'audit_%', (trx) =>
    trx.raw('select audit_seal(?, ?, ?, 100, 1000)', [INSTANCE_CHAIN, INSTANCE_CHAIN.replaceAll('0', 'f'), []]),
  );
  await db.destroy();
  expect(read).toBeLessThan(100);
});

it('does not seal inside a transaction', async () => {
  await expect(log.db.transaction((trx) => sealEntries(trx))).rejects.toThrow('after the commit');
});

it.each(['audit_entries', 'audit_seals'])('%s refuses UPDATE, DELETE and TRUNCATE', async (table) => {
  const { db } = log;
  await writeEntries(db, null, 2);
  await sealEntries(db);
  for (const statement of [`update ${table} set audit_id = uuidv7()`, `delete from ${table}`, `truncate ${table} cascade`])
    await expect(db.raw(statement)).rejects.toMatchObject({ code: '42501', message: expect.stringContaining('is append-only') });
  expect(await db(table)).toHaveLength(2);
});

describe('startSealer', () => {
  const until = async (met: () => Promise<boolean>): Promise<void> => {
    while (!(await met())) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('seals on a notification, on a poll without one, and the rest when it stops', async () => {
    const { db } = log;
    const sealer = startSealer(log);
    await writeEntries(db, null);
    await until(async () => (await pending(db)) === 0);
    // The sweep alone needs a second each time: it has just been. A busy machine hears some bells late, but not all.
    for (let took = 1_000; took > 500; ) {
      const since = Date.now();
      await writeEntries(db, null);
      sealer.wake();
      sealer.wake();
      await until(async () => (await pending(db)) === 0);
      took = Date.now() - since;
    }
    await writeEntries(db, null);
    await sealer.stop();
    expect(await pending(db)).toBe(0);
    await writeEntries(db, null);
    sealer.wake();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await pending(db)).toBe(1);
  });

  it('goes on after the database was away, and says both once', async () => {
    const { db } = log;
    const messages: string[] = [];
    const write = (_fields: unknown, message?: string) => messages.push(message ?? String(_fields));
    const sealer = startSealer({ db, log: { error: write, info: write } as unknown as AuditLog['log'] });
    await db.raw('alter table audit_pending rename to away');
    await until(async () => messages.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await db.raw('alter table away rename to audit_pending');
    await writeEntries(db, null);
    await until(async () => (await pending(db)) === 0 && messages.length > 1);
    await sealer.stop();
    expect(messages).toEqual([expect.stringContaining('cannot be sealed'), 'Audit entries are sealed again']);
  });
});

describe('under load', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({}, 60_000);
  });
  afterAll(() => app.close());

  it('200 parallel audited writes through several pools, with sealers racing and readers sealing first, verify', async () => {
    const teams = await Promise.all([buildTeam(app), buildTeam(app)]);
    const projects = await Promise.all(teams.map((team) => buildProject(app, team)));
    const pools = Array.from({ length: 3 }, () =>
      openDatabase({ url: app.database.url, poolSize: 4, name: 'assent-test', acquireTimeoutMs: 30_000 }),
    );
    const sealers = pools.map((db) => startSealer({ ...app.services, db }));
    const writes = Array.from({ length: 200 }, async (_, i) => {
      const team = teams[i % 2] as (typeof teams)[0];
      const { project_id } = projects[i % 2] as { project_id: string };
      if (i % 4 < 2) {
        const { status } = await app.as(team.member).post('/api/tasks', { title: `Task ${i}`, project_id });
        expect(status).toBe(201);
      } else {
        await writeEntries(pools[i % 3] as Knex, i % 8 < 4 ? null : team.team_id);
      }
      sealers[i % 3]?.wake();
      if (i % 5 === 0) await sealEntries(app.services.db);
    });
    await Promise.all(writes);
    await Promise.all(sealers.map((sealer) => sealer.stop()));
    await Promise.all(pools.map((pool) => pool.destroy()));
    expect(await pending(app.services.db)).toBe(0);
    expect(await verifyChain(app.services)).toMatchObject({ chains: 3, entries: 200, breaks: [] });
  });
});
