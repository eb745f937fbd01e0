import { readFileSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import type { Knex } from 'knex';
import { INSTANCE_CHAIN, linkEntry } from '../../../api/audit/chain.js';
import { checkpointFile, writeCheckpoint } from '../../../api/audit/checkpoint.js';
import { sealEntries } from '../../../api/audit/seal-entries.js';
import { verifyChain } from '../../../api/audit/verify-chain.js';
import { type AuditLog, cutTail, newTeamId, openAuditLog, rewriteChain, tamper, writeEntries } from './support.js';

let log: AuditLog;
let db: Knex;
let team: string;
/** The team's entries, the one with sequence 1 first. */
let ids: string[];

beforeEach(async () => {
  log = await openAuditLog();
  db = log.db;
  team = newTeamId();
  await writeEntries(db, null, 3);
  for (let i = 0; i < 10; i += 1) await writeEntries(db, team);
  await sealEntries(db);
  ids = await db('audit_seals').where({ chain: team }).orderBy('sequence').pluck('audit_id');
});
afterEach(() => log.close());

const broken = async () => (await verifyChain(log)).breaks[0] ?? null;
const lines = () => readFileSync(checkpointFile(log.config), 'utf8').split('\n').slice(0, -1);
const setLines = (text: string[]) => writeFileSync(checkpointFile(log.config), text.map((line) => `${line}\n`).join(''));

it('an untouched log verifies, 10,000 entries and more in one go', async () => {
  for (let i = 0; i < 10; i += 1) await writeEntries(db, team, 1_000);
  await writeCheckpoint(log);
  await writeCheckpoint(log);
  expect(await verifyChain(log)).toMatchObject({ chains: 2, entries: 10_013, checkpoints: 2, breaks: [] });
});

it('an empty log verifies', async () => {
  const empty = await openAuditLog();
  await writeCheckpoint(empty);
  expect(await verifyChain(empty)).toMatchObject({ chains: 0, entries: 0, checkpoints: 1, breaks: [] });
  await empty.close();
});

describe('names the first broken entry when someone', () => {
  it.each([
    ['details', `'{"title": "Zoe 1"}'`],
    ['user_agent', 'null'],
    ['severity', `'HIGH'`],
    ['timestamp', `'2026-01-01T00:00:00.000000'`],
    ['user_id', 'uuidv7()'],
  ])('edits %s', async (field, value) => {
    await tamper(
      db,
      [`update audit_entries set ${field} = ${value} where audit_id = ?`, ids[3] as string],
      [`update audit_entries set ${field} = ${value} where audit_id = ?`, ids[7] as string],
    );
    expect(await broken()).toMatchObject({ kind: 'entry_changed', chain: team, sequence: 4, audit_id: ids[3] });
  });

  it('deletes an entry', async () => {
    await tamper(db, ['delete from audit_entries where audit_id = ?', ids[4] as string]);
    expect(await broken()).toMatchObject({ kind: 'entry_missing', chain: team, sequence: 5, audit_id: ids[4] });
  });

  it('deletes an entry and its seal from the middle', async () => {
    const id = ids[4] as string;
    await tamper(db, ['delete from audit_seals where audit_id = ?', id], ['delete from audit_entries where audit_id = ?', id]);
    expect(await broken()).toMatchObject({ kind: 'sequence_gap', chain: team, sequence: 6, audit_id: ids[5] });
  });

  it('closes the gap by counting anew', async () => {
    const id = ids[4] as string;
    await tamper(
      db,
      ['delete from audit_seals where audit_id = ?', id],
      ['delete from audit_entries where audit_id = ?', id],
      ...ids
        .slice(5)
        .map((each) => ['update audit_seals set sequence = sequence - 1 where audit_id = ?', each] as [string, string]),
      ['update audit_heads set sequence = 9 where chain = ?', team],
    );
    expect(await broken()).toMatchObject({ kind: 'link_broken', chain: team, sequence: 5, audit_id: ids[5] });
  });

  it('deletes the only entries of the instance, seals and all', async () => {
    await tamper(
      db,
      ['delete from audit_seals where chain = ?', INSTANCE_CHAIN],
      'delete from audit_entries where team_id is null',
    );
    expect(await broken()).toMatchObject({ kind: 'head_mismatch', chain: INSTANCE_CHAIN, sequence: 1 });
  });

  it('swaps two entries', async () => {
    const [third, fourth] = [ids[2] as string, ids[3] as string];
    const other = newTeamId();
    await tamper(
      db,
      ['update audit_entries set audit_id = ? where audit_id = ?', other, third],
      ['update audit_entries set audit_id = ? where audit_id = ?', third, fourth],
      ['update audit_entries set audit_id = ? where audit_id = ?', fourth, other],
    );
    expect(await broken()).toMatchObject({ kind: 'entry_changed', chain: team, sequence: 3, audit_id: third });
  });

  it('swaps the places of two entries', async () => {
    const [third, fourth] = [ids[2] as string, ids[3] as string];
    await tamper(
      db,
      ['update audit_seals set sequence = 99 where audit_id = ?', third],
      ['update audit_seals set sequence = 3 where audit_id = ?', fourth],
      ['update audit_seals set sequence = 4 where audit_id = ?', third],
    );
    expect(await broken()).toMatchObject({ kind: 'link_broken', chain: team, sequence: 3, audit_id: fourth });
  });

  const forge = [
    'insert into audit_entries select (jsonb_populate_record(e, ?)).* from audit_entries e where audit_id = ?',
  ] as const;

  it('puts an entry in', async () => {
    const forged = newTeamId();
    await tamper(db, [...forge, JSON.stringify({ audit_id: forged }), ids[0] as string]);
    expect(await broken()).toMatchObject({ kind: 'entry_unsealed', chain: team, audit_id: forged });
  });

  it('puts an entry with a seal in, the seals after it moved on; sloppily at first, then with a true hash', async () => {
    const forged = newTeamId();
    const [fifth] = await db('audit_seals').where({ audit_id: ids[4] });
    await tamper(
      db,
      [...forge, JSON.stringify({ audit_id: forged }), ids[0] as string],
      ...ids
        .slice(5)
        .reverse()
        .map((each) => ['update audit_seals set sequence = sequence + 1 where audit_id = ?', each] as [string, string]),
      ['update audit_heads set sequence = 11 where chain = ?', team],
      [`update audit_seals set prev_hash = sha256('forged') where audit_id = ?`, ids[5] as string],
      [`insert into audit_seals values (?, 6, ?, ?, sha256('forged'))`, team, forged, fifth.entry_hash],
    );
    expect(await broken()).toMatchObject({ kind: 'entry_changed', chain: team, sequence: 6, audit_id: forged });
    const [entry] = await db('audit_entries').where({ audit_id: forged });
    const { hash } = linkEntry(entry, { sequence: 5, hash: fifth.entry_hash });
    await tamper(
      db,
      ['update audit_seals set entry_hash = ? where audit_id = ?', hash, forged],
      ['update audit_seals set prev_hash = ? where audit_id = ?', hash, ids[5] as string],
    );
    expect(await broken()).toMatchObject({ kind: 'entry_changed', chain: team, sequence: 7, audit_id: ids[5] });
  });

  it('moves an entry to another team', async () => {
    await tamper(db, ['update audit_entries set team_id = ? where audit_id = ?', newTeamId(), ids[1] as string]);
    expect(await broken()).toMatchObject({ kind: 'entry_misplaced', chain: team, sequence: 2, audit_id: ids[1] });
  });

  it('cuts the tail and forgets the head', async () => {
    await tamper(
      db,
      ['delete from audit_seals where chain = ? and sequence > 7', team],
      ['delete from audit_entries where audit_id = any(?)', ids.slice(7)],
    );
    expect(await broken()).toMatchObject({ kind: 'head_mismatch', chain: team, sequence: 8 });
  });
});

describe('the signed checkpoints show', () => {
  it('a cut tail, head included; also when the chain has grown since', async () => {
    await writeCheckpoint(log);
    await cutTail(db, team, 8);
    const cut = { kind: 'checkpoint_contradicted', chain: team, sequence: 10 };
    expect(await broken()).toMatchObject({ ...cut, detail: expect.stringContaining('no longer there') });
    await writeEntries(db, team, 5);
    expect(await broken()).toMatchObject({ ...cut, detail: expect.stringContaining('has the hash') });
    // Without the file nothing is left that could tell.
    setLines([]);
    expect(await broken()).toBeNull();
  });

  it('a chain that was written anew', async () => {
    await writeCheckpoint(log);
    await writeEntries(db, team);
    await sealEntries(db);
    await tamper(db, [`update audit_entries set user_email = 'mallory@demo.test' where audit_id = ?`, ids[2] as string]);
    expect(await broken()).toMatchObject({ kind: 'entry_changed', sequence: 3 });
    await rewriteChain(db, team);
    expect(await broken()).toMatchObject({ kind: 'checkpoint_contradicted', chain: team, sequence: 10 });
  });

  it('a chain that is gone without a trace', async () => {
    await writeCheckpoint(log);
    await tamper(
      db,
      ['delete from audit_seals where chain = ?', team],
      ['delete from audit_entries where team_id = ?', team],
      ['delete from audit_heads where chain = ?', team],
    );
    expect(await broken()).toMatchObject({ kind: 'checkpoint_contradicted', chain: team, sequence: 10 });
  });
});

describe('the file of checkpoints', () => {
  beforeEach(async () => {
    for (let i = 0; i < 3; i += 1) {
      await writeCheckpoint(log);
      await writeEntries(db, team);
    }
  });

  it('holds one signed line each, with all heads, chained, and the log has the same line', async () => {
    const logged: unknown[] = [];
    const info = (fields: unknown) => logged.push(fields);
    const written = await writeCheckpoint({ ...log, log: { info } as unknown as AuditLog['log'] });
    const [head] = await db('audit_heads').where({ chain: team });
    expect(written.heads).toEqual([
      { chain: INSTANCE_CHAIN, sequence: 3, entry_hash: expect.any(String) },
      { chain: team, sequence: 13, entry_hash: head.entry_hash.toString('hex') },
    ]);
    expect(lines()).toHaveLength(4);
    const { signature, ...last } = JSON.parse(lines()[3] as string);
    expect(last).toEqual(written);
    expect(Buffer.from(signature, 'base64')).toHaveLength(64);
    expect(logged).toEqual([{ checkpoint: lines()[3] }]);
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 4, breaks: [] });
  });

  it.each([
    ['a number', (line: string) => line.replace('"sequence":11', '"sequence":10')],
    ['a space', (line: string) => line.replace('"heads":', '"heads": ')],
    ['the time', (line: string) => line.replace(/"time":"20/, '"time":"19')],
    [
      'the signature',
      (line: string) => line.replace(/"signature":"./, (start) => `${start.slice(0, -1)}${start.endsWith('A') ? 'B' : 'A'}`),
    ],
    ['everything', () => 'forged'],
  ])('fails when %s of a line was altered', async (_what, alter) => {
    setLines(lines().map((line, i) => (i === 1 ? alter(line) : line)));
    expect(await verifyChain(log)).toMatchObject({
      checkpoints: 2,
      breaks: [{ kind: 'checkpoint_altered', detail: expect.stringContaining('Line 2') }],
    });
  });

  it.each([
    ['was taken out', ([first, , third]: string[]) => [first, third], 2],
    ['was taken off the front', (all: string[]) => all.slice(1), 1],
    ['was moved', ([first, second, third]: string[]) => [first, third, second], 2],
    ['was repeated', ([first, second, third]: string[]) => [first, second, second, third], 3],
  ])('fails when a line %s', async (_what, change, line) => {
    setLines(change(lines()) as string[]);
    expect(await verifyChain(log)).toMatchObject({ checkpoints: line, breaks: [{ kind: 'checkpoint_unlinked' }] });
  });

  it('fails under another key', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const AUDIT_SIGNING_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(await verifyChain({ ...log, config: { ...log.config, AUDIT_SIGNING_KEY } })).toMatchObject({
      breaks: [{ kind: 'checkpoint_key_unknown' }],
    });
  });

  it('survives a line that was cut off while it was written', async () => {
    const file = checkpointFile(log.config);
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, whole.slice(0, -100));
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 2, breaks: [] });
    await writeCheckpoint(log);
    expect(lines().slice(0, 2)).toEqual(whole.split('\n').slice(0, 2));
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 3, breaks: [] });
    writeFileSync(file, 'cut');
    await writeCheckpoint(log);
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 1, breaks: [] });
  });

  it('finds the last line when lines are longer than what is read at once', async () => {
    await Promise.all(Array.from({ length: 700 }, () => writeEntries(db, newTeamId())));
    await writeCheckpoint(log);
    await writeCheckpoint(log);
    expect(lines()[4]?.length).toBeGreaterThan(65_536);
    expect(await verifyChain(log)).toMatchObject({ chains: 702, checkpoints: 5, breaks: [] });
  });

  it('is written by one at a time', async () => {
    await Promise.all(Array.from({ length: 10 }, () => writeCheckpoint(log)));
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 13, breaks: [] });
  });

  it('refuses a key of another kind', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const AUDIT_SIGNING_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await expect(writeCheckpoint({ ...log, config: { ...log.config, AUDIT_SIGNING_KEY } })).rejects.toThrow('Ed25519');
  });
});
