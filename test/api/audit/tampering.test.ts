import type { Knex } from 'knex';
import pg from 'pg';
import { GENESIS, INSTANCE_CHAIN, linkEntry } from '../../../api/audit/chain.js';
import { sealEntries } from '../../../api/audit/seal-entries.js';
import { verifyChain } from '../../../api/audit/verify-chain.js';
import { type AuditLog, newTeamId, openAuditLog, tamper, writeEntries } from './support.js';

/**
 * What the owner of the database does to entries that are committed and not sealed yet, and to the sealer itself. Each tampering
 * must neither stop the sealing of the other entries nor pass verification.
 */
let log: AuditLog;
let db: Knex;
let team: string;

beforeEach(async () => {
  log = await openAuditLog();
  db = log.db;
  team = newTeamId();
  await writeEntries(db, team, 3);
  await sealEntries(db);
});
afterEach(() => log.close());

const breaks = async () => (await verifyChain(log)).breaks;
const isSealed = async (audit_id: string) => (await db('audit_seals').where({ audit_id })).length === 1;
const lowId = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Writes entries of `owner` and returns their ids; they are pending. */
async function writePending(owner: string | null, count = 1): Promise<string[]> {
  await writeEntries(db, owner, count);
  return db('audit_pending')
    .where({ chain: owner ?? INSTANCE_CHAIN })
    .orderBy('audit_id')
    .pluck('audit_id');
}

const addOrphans = (chain: string, count: number) =>
  tamper(
    db,
    ...Array.from(
      { length: count },
      (_, i) => ['insert into audit_pending (audit_id, chain) values (?, ?)', lowId(i), chain] as [string, string, string],
    ),
  );

/** Runs `work` with an ordinary index instead of a key of `table`, as an attacker would to insert two equal rows. */
async function withoutKey(table: string, constraint: string, columns: string, work: () => Promise<void>): Promise<void> {
  await db.raw(`alter table ${table} drop constraint ${constraint} cascade`);
  await work();
  await db.raw(`create index ${constraint} on ${table} (${columns})`);
}

describe('pending rows without entries, with the lowest ids', () => {
  beforeEach(() => addOrphans(team, 1_100));

  it('do not stop the sealing of other entries, and are named', async () => {
    const [own] = await writePending(team).then((ids) => ids.slice(-1));
    const [other] = await writePending(newTeamId());
    expect(await sealEntries(db)).toMatchObject({ rejected: 1_100, refused: [], busy: [] });
    expect([await isSealed(own as string), await isSealed(other as string)]).toEqual([true, true]);
    expect(await db('audit_pending')).toEqual([]);
    const found = await breaks();
    expect(found[0]).toMatchObject({ kind: 'pending_orphan', chain: team, audit_id: lowId(0) });
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['pending_orphan']));
  });

  it('leave a sealed entry that names them when their rows are deleted before anybody looks', async () => {
    await sealEntries(db);
    await tamper(db, 'delete from audit_rejected');
    const [entry] = await db('audit_entries').where({ team_id: null, severity: 'CRITICAL' }).orderBy('timestamp');
    expect(JSON.parse(entry.details).first[0]).toEqual({ chain: team, audit_id: lowId(0), reason: 'entry_missing' });
    expect(await isSealed(entry.audit_id)).toBe(true);
  });

  it('do not hide that an entry is edited after it', async () => {
    const [id] = await writePending(team).then((ids) => ids.slice(-1));
    await sealEntries(db);
    await tamper(db, [`update audit_entries set details = '{}' where audit_id = ?`, id as string]);
    expect((await breaks())[0]).toMatchObject({ kind: 'entry_changed', chain: team, sequence: 4, audit_id: id });
  });

  it('do not hide that an entry is deleted after it', async () => {
    const [id] = await writePending(team).then((ids) => ids.slice(-1));
    await sealEntries(db);
    await tamper(db, ['delete from audit_entries where audit_id = ?', id as string]);
    expect((await breaks())[0]).toMatchObject({ kind: 'entry_missing', chain: team, sequence: 4, audit_id: id });
  });
});

describe('names the first broken entry when someone', () => {
  it('deletes a pending entry', async () => {
    const [first, second] = await writePending(team, 2);
    await tamper(db, ['delete from audit_entries where audit_id = ?', first as string]);
    expect((await breaks())[0]).toMatchObject({ kind: 'pending_orphan', chain: team, audit_id: first });
    expect(await isSealed(second as string)).toBe(true);
  });

  it('deletes the pending row of an entry', async () => {
    const [first] = await writePending(team, 2);
    await tamper(db, ['delete from audit_pending where audit_id = ?', first as string]);
    expect((await breaks())[0]).toMatchObject({ kind: 'entry_unsealed', chain: team, audit_id: first });
  });

  it('moves a pending entry to another team', async () => {
    const [first, second] = await writePending(team, 2);
    await tamper(db, ['update audit_entries set team_id = ? where audit_id = ?', newTeamId(), first as string]);
    const found = await breaks();
    expect(found).toContainEqual(expect.objectContaining({ kind: 'pending_misplaced', chain: team, audit_id: first }));
    expect([await isSealed(first as string), await isSealed(second as string)]).toEqual([false, true]);
  });

  it('moves a pending row to another chain', async () => {
    const [first] = await writePending(team);
    const other = newTeamId();
    await tamper(db, ['update audit_pending set chain = ? where audit_id = ?', other, first as string]);
    const found = await breaks();
    expect(found).toContainEqual(expect.objectContaining({ kind: 'pending_misplaced', chain: other, audit_id: first }));
  });

  it('marks a sealed entry as pending again; the others are sealed', async () => {
    const [sealed] = await db('audit_seals').where({ chain: team, sequence: 2 }).pluck('audit_id');
    const [id] = await writePending(team);
    await tamper(db, ['insert into audit_pending (audit_id, chain) values (?, ?)', sealed, team]);
    expect((await breaks())[0]).toMatchObject({ kind: 'pending_sealed', chain: team, audit_id: sealed });
    expect(await isSealed(id as string)).toBe(true);
  });

  it('makes a row pending twice', async () => {
    const [id] = await writePending(team);
    await withoutKey('audit_pending', 'audit_pending_pkey', 'chain, audit_id', () =>
      tamper(db, ['insert into audit_pending (audit_id, chain) values (?, ?)', id as string, team]),
    );
    expect((await breaks())[0]).toMatchObject({ kind: 'pending_sealed', chain: team, audit_id: id });
    expect(await isSealed(id as string)).toBe(true);
  });

  it('forges a seal on which the next ones of the chain must fail; the other chains are sealed', async () => {
    const [head] = await db('audit_heads').where({ chain: team });
    const forged = newTeamId();
    await tamper(db, ['insert into audit_seals values (?, 0, ?, ?, ?)', team, forged, head.entry_hash, head.entry_hash]);
    const [id] = await writePending(newTeamId());
    await writePending(team);
    const found = await breaks();
    expect(found[0]).toMatchObject({ kind: 'sequence_gap', chain: team, sequence: 0, audit_id: forged });
    expect(await isSealed(id as string)).toBe(true);
  });

  it('lets the seals vanish on their way into the table', async () => {
    await db.raw(`create function vanish() returns trigger language plpgsql as 'begin return null; end'`);
    await db.raw('create trigger vanish before insert on audit_seals for each row execute function vanish()');
    const [id] = await writePending(team);
    const found = await breaks();
    expect(found[0]).toMatchObject({ kind: 'head_mismatch', chain: team, sequence: 4 });
    expect(found).toContainEqual(expect.objectContaining({ kind: 'entry_unsealed', audit_id: id }));
    expect(found.at(-1)).toMatchObject({ kind: 'guard_changed', detail: expect.stringContaining('TRIGGER vanish') });
  });

  it('stops the sealer by a trigger that fails', async () => {
    await db.raw(`create function fail() returns trigger language plpgsql as $$ begin raise 'no more seals'; end $$`);
    await db.raw('create trigger fail before insert on audit_seals for each row execute function fail()');
    const [id] = await writePending(team);
    const found = await breaks();
    expect(found.map(({ kind }) => kind)).toEqual(['sealing_blocked', 'entry_stuck', 'guard_changed']);
    expect(found[0]).toMatchObject({ chain: team, detail: expect.stringContaining('no more seals') });
    expect(found[1]).toMatchObject({ chain: team, audit_id: id });
  });

  it('stops the sealer by its lock; only this chain waits', async () => {
    const session = new pg.Client({ connectionString: log.database.url });
    await session.connect();
    await session.query(`select pg_advisory_lock(hashtextextended('audit_chain:' || $1, 0))`, [team]);
    const [stuck] = await writePending(team);
    const [other] = await writePending(newTeamId());
    // Fresh at any time, so that no age gives it away.
    await tamper(db, [`update audit_entries set timestamp = '2999-01-01T00:00:00.000000' where audit_id = ?`, stuck as string]);
    expect(await sealEntries(db, { lockTimeoutMs: 0 })).toMatchObject({ sealed: 1, busy: [team] });
    expect(await isSealed(other as string)).toBe(true);
    const found = await breaks();
    expect(found.map(({ kind, chain }) => [kind, chain])).toEqual([
      ['sealing_blocked', team],
      ['entry_stuck', team],
    ]);
    expect(found[1]).toMatchObject({ audit_id: stuck });
    await session.end();
  });

  it('puts a second entry under the id of a sealed one', async () => {
    const [id] = await db('audit_seals').where({ chain: team, sequence: 2 }).pluck('audit_id');
    await withoutKey('audit_entries', 'audit_entries_pkey', 'audit_id', () =>
      tamper(db, [
        `insert into audit_entries select (jsonb_populate_record(e, '{"action": "read"}')).* from audit_entries e where audit_id = ?`,
        id,
      ]),
    );
    const found = await breaks();
    expect(found).toContainEqual(expect.objectContaining({ kind: 'entry_doubled', chain: team, audit_id: id }));
    const missing = found.filter(({ kind }) => kind === 'guard_changed').map(({ detail }) => detail);
    expect(missing).toContain('missing: audit_entries PRIMARY KEY (audit_id)');
    expect(missing).toContain('missing: audit_entries_default PRIMARY KEY (audit_id)');
  });

  it('seals an entry twice, the second time at the end of its chain with a true hash', async () => {
    const [entry] = await db('audit_entries').where({ team_id: team }).orderBy('timestamp').limit(1);
    const [head] = await db('audit_heads').where({ chain: team });
    const previous = { sequence: 3, hash: head.entry_hash };
    const { hash } = linkEntry(entry, previous);
    await withoutKey('audit_seals', 'audit_seals_audit_id_key', 'audit_id', () =>
      tamper(
        db,
        ['insert into audit_seals values (?, 4, ?, ?, ?)', team, entry.audit_id, previous.hash, hash],
        ['update audit_heads set sequence = 4, entry_hash = ? where chain = ?', hash, team],
      ),
    );
    const found = await breaks();
    expect(found[0]).toMatchObject({ kind: 'seal_doubled', chain: team, sequence: 1, audit_id: entry.audit_id });
  });

  it('forks a chain', async () => {
    const [id] = await writePending(team);
    const [first] = await db('audit_seals').where({ chain: team, sequence: 1 });
    const [entry] = await db('audit_entries').where({ audit_id: id });
    const { hash } = linkEntry(entry, { sequence: 1, hash: first.entry_hash });
    await db.raw('alter table audit_seals drop constraint audit_seals_chain_prev_hash_key');
    await withoutKey('audit_seals', 'audit_seals_pkey', 'chain, sequence', () =>
      tamper(
        db,
        ['insert into audit_seals values (?, 2, ?, ?, ?)', team, id as string, first.entry_hash, hash],
        ['delete from audit_pending where audit_id = ?', id as string],
      ),
    );
    const found = await breaks();
    expect(found[0]).toMatchObject({ kind: 'sequence_gap', chain: team });
    expect(found).toContainEqual(expect.objectContaining({ kind: 'chain_forked', chain: team, sequence: 2 }));
  });

  it('seals an entry of one team in the chain of another, true to its hash', async () => {
    const other = newTeamId();
    const [id] = await writePending(team);
    const [entry] = await db('audit_entries').where({ audit_id: id });
    const { hash } = linkEntry(entry, GENESIS);
    await tamper(
      db,
      ['insert into audit_seals values (?, 1, ?, ?, ?)', other, id as string, GENESIS.hash, hash],
      ['insert into audit_heads values (?, 1, ?)', other, hash],
      ['delete from audit_pending where audit_id = ?', id as string],
    );
    expect((await breaks())[0]).toMatchObject({ kind: 'entry_misplaced', chain: other, sequence: 1, audit_id: id });
  });

  it('breaks several chains: one break of each, and the sound ones are read to their end', async () => {
    const others = [newTeamId(), newTeamId(), newTeamId()];
    for (const other of others) await writeEntries(db, other, 4);
    await sealEntries(db);
    const bad = [team, others[1] as string];
    for (const chain of bad)
      await tamper(db, [
        `update audit_entries set action = 'read' where audit_id = any(array(select audit_id from audit_seals where chain = ? and sequence > 1))`,
        chain,
      ]);
    const report = await verifyChain(log);
    expect(report).toMatchObject({ chains: 4, entries: 4 + 4 + 1 + 1 });
    expect(report.breaks.map(({ kind, chain, sequence }) => [kind, chain, sequence])).toEqual(
      bad.toSorted().map((chain) => ['entry_changed', chain, 2]),
    );
  });
});

describe('what keeps the log append-only', () => {
  it.each([
    ['a disabled trigger', 'alter table only audit_entries disable trigger audit_entries_append_only', 'missing or disabled'],
    [
      'a trigger of one partition',
      'alter table audit_entries_default disable trigger audit_entries_append_only',
      'ON public.audit_entries_default',
    ],
    [
      'the truncate trigger of one partition',
      'drop trigger audit_entries_keep on audit_entries_default',
      'audit_entries_default',
    ],
    ['a dropped trigger', 'drop trigger audit_seals_keep on audit_seals', 'missing or disabled'],
    [
      'a harmless function',
      `create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'`,
      'refuse_change',
    ],
    ['a rule', 'create rule nothing as on insert to audit_pending do instead nothing', 'rule nothing on audit_pending'],
    ['row security', 'alter table audit_entries enable row level security', 'row security on audit_entries'],
    ['a dropped key', 'alter table audit_seals drop constraint audit_seals_pkey', 'audit_seals PRIMARY KEY (chain, sequence)'],
  ])('is compared with the migrations: %s', async (_what, change, detail) => {
    await db.raw(change);
    expect(await breaks()).toEqual([expect.objectContaining({ kind: 'guard_changed', detail: expect.stringContaining(detail) })]);
  });

  it('does not hide what was changed while it was disabled', async () => {
    const [id] = await db('audit_seals').where({ chain: team, sequence: 2 }).pluck('audit_id');
    await db.raw('alter table audit_entries disable trigger user');
    await db('audit_entries').where({ audit_id: id }).update({ outcome: 'failure' });
    await db.raw('alter table audit_entries enable trigger user');
    expect(await breaks()).toEqual([expect.objectContaining({ kind: 'entry_changed', sequence: 2, audit_id: id })]);
  });
});

describe('the age of the oldest unsealed entry', () => {
  const oldestUnsealedSeconds = async (on: Knex): Promise<number> =>
    (await on.raw<{ rows: { age: number }[] }>('select audit_oldest_unsealed_seconds() as age')).rows[0]?.age ?? Number.NaN;

  it('is 0 without pending entries, then the age of the oldest', async () => {
    expect(await oldestUnsealedSeconds(db)).toBe(0);
    const [id] = await writePending(team, 2);
    expect(await oldestUnsealedSeconds(db)).toBeLessThan(60);
    await tamper(db, [
      `update audit_entries set timestamp = to_char(clock_timestamp() at time zone 'UTC' - interval '2 hours', 'YYYY-MM-DD"T"HH24:MI:SS.US') where audit_id = ?`,
      id as string,
    ]);
    expect(Math.round((await oldestUnsealedSeconds(db)) / 3_600)).toBe(2);
  });

  it.each([
    ['without an entry', ['insert into audit_pending (audit_id, chain) values (gen_random_uuid(), gen_random_uuid())']],
    [
      'with an entry that has no time',
      [
        `update audit_entries set timestamp = 'never', audit_id = gen_random_uuid()`,
        'update audit_pending set audit_id = (select audit_id from audit_entries limit 1)',
      ],
    ],
  ])('counts a row %s as very old', async (_what, statements) => {
    await db.raw('truncate audit_pending');
    if (statements.length > 1) {
      await tamper(db, 'delete from audit_seals', 'delete from audit_entries');
      await writeEntries(db, team);
    }
    await tamper(db, ...statements);
    expect(await oldestUnsealedSeconds(db)).toBeGreaterThan(1e9);
  });
});
