import { setTimeout as sleep } from 'node:timers/promises';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Knex } from 'knex';
import pg from 'pg';
import { archiveMonths, type ArchiveOptions, type ArchiveStep } from '../../../api/audit/archive/archive-months.js';
import { writeCheckpoint } from '../../../api/audit/checkpoint.js';
import { sealEntries } from '../../../api/audit/seal-entries.js';
import { verifyChain } from '../../../api/audit/verify-chain.js';
import { type AuditLog, newTeamId, openAuditLog, tamper, writeEntries } from './support.js';

let log: AuditLog;
let db: Knex;
let team: string;
let dir: string;

/** Writes entries whose ids are of a month. */
async function writeOld(owner: string | null, month: string, count: number): Promise<void> {
  await db.raw(
    /* sql */ `
select record_change(jsonb_build_object('request_id', id, 'correlation_id', id, 'actor_type', 'user', 'email', 'zoë@demo.test'),
  jsonb_build_object('team_id', ?::uuid, 'feature', 'tasks', 'action', 'update', 'entity_type', 'task', 'entity_id', 'k' || n,
    'details', jsonb_build_object('title', 'Zoë ' || n, 'text', e'\\n"' || repeat('x', n))))
from (select n, uuidv7((? || '-15')::timestamptz - clock_timestamp()) as id from generate_series(1, ?::int) n) made`,
    [owner, month, count],
  );
}

/** Two teams and the instance with 36 entries in January, 18 in February and 9 of today, sealed and covered by a checkpoint. */
beforeEach(async () => {
  log = await openAuditLog();
  db = log.db;
  team = newTeamId();
  dir = mkdtempSync(join(tmpdir(), 'assent-test-archive-'));
  for (const month of ['2026-01', '2026-02']) await db.raw(`select make_partition('audit_entries', '${month}-01', 0)`);
  for (const owner of [team, newTeamId(), null]) {
    await writeOld(owner, '2026-01', 6);
    await writeOld(owner, '2026-02', 6);
    await writeOld(owner, '2026-01', 6);
    await writeEntries(db, owner, 3);
  }
  await writeCheckpoint(log);
});
afterEach(async () => {
  await log.close();
  rmSync(dir, { recursive: true });
});

const archive = (options: Partial<ArchiveOptions> = {}) => archiveMonths(log, { before: '2026-02', dir, ...options });
const file = (month = '2026-01') => join(dir, `audit-${month}.ndjson.gz`);
const breaks = async (archived?: string) => (await verifyChain(log, archived === undefined ? {} : { archive: archived })).breaks;
const attached = async (): Promise<string[]> =>
  (
    await db.raw<{ rows: { name: string }[] }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass and inhrelid::regclass::text like '%2026\\_0%' order by 1`,
    )
  ).rows.map(({ name }) => name);
const tableExists = async (name: string) =>
  (await db.raw<{ rows: { it: string | null }[] }>('select to_regclass(?) as it', [name])).rows[0]?.it != null;
const splitLines = (path: string): string[] => gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n');
const rewrite = (path: string, lines: string[]) => writeFileSync(path, gzipSync(lines.map((line) => `${line}\n`).join('')));

describe('a month that is archived', () => {
  it('leaves the log with its entries, and the chain still verifies: over seals alone, and with the file over every entry', async () => {
    const seals = await db('audit_seals').orderBy(['chain', 'sequence']);
    expect(await archive()).toEqual({ archived: ['2026-01'], dropped: [] });
    expect(await attached()).toEqual(['audit_entries_2026_02']);
    expect(await db('audit_entries')).toHaveLength(18 + 9 + 1);
    await sealEntries(db);
    expect(
      (await db('audit_seals').orderBy(['chain', 'sequence'])).filter(({ audit_id }) =>
        seals.some((seal) => seal.audit_id === audit_id),
      ),
    ).toEqual(seals);
    expect(await verifyChain(log)).toMatchObject({ chains: 3, entries: 64, archived: 36, months_archived: 1, breaks: [] });
    expect(await verifyChain(log, { archive: dir })).toMatchObject({ entries: 64, archived: 36, breaks: [] });
    expect(splitLines(file()).map((line) => JSON.parse(line))).toEqual(
      [...(await db('audit_entries_2026_01'))]
        .map((entry) => {
          const seal = seals.find(({ audit_id }) => audit_id === entry.audit_id);
          const hashes = { prev_hash: seal.prev_hash.toString('hex'), entry_hash: seal.entry_hash.toString('hex') };
          return { chain: seal.chain, sequence: seal.sequence, ...hashes, ...entry };
        })
        .sort((a, b) => (a.chain === b.chain ? a.sequence - b.sequence : a.chain < b.chain ? -1 : 1)),
    );
  });

  it('is recorded by a HIGH entry of the instance, and its table stays, append-only, until it is dropped', async () => {
    await archive();
    const [entry] = await db('audit_entries').where({ action: 'archive' });
    expect(entry).toMatchObject({
      team_id: null,
      feature: 'audit',
      severity: 'HIGH',
      entity_type: 'audit_log',
      entity_id: '2026-01',
    });
    expect(JSON.parse(entry.details)).toMatchObject({
      entries: 36,
      file: 'audit-2026-01.ndjson.gz',
      content_sha256: expect.any(String),
    });
    for (const statement of [
      'update audit_entries_2026_01 set outcome = null',
      'delete from audit_entries_2026_01',
      'truncate audit_entries_2026_01',
    ])
      await expect(db.raw(statement)).rejects.toMatchObject({ code: '42501' });
    expect(await archive({ drop: true })).toEqual({ archived: [], dropped: ['2026-01'] });
    expect(await tableExists('audit_entries_2026_01')).toBe(false);
    expect(await db('audit_entries').where({ action: 'purge' }).select('severity', 'entity_id')).toEqual([
      { severity: 'HIGH', entity_id: '2026-01' },
    ]);
    expect(await archive({ drop: true })).toEqual({ archived: [], dropped: [] });
    expect(await verifyChain(log, { archive: dir })).toMatchObject({ archived: 36, breaks: [] });
  });

  it('may get a late entry, which goes into the default partition and verifies', async () => {
    await archive();
    await writeOld(team, '2026-01', 2);
    expect(await verifyChain(log, { archive: dir })).toMatchObject({ entries: 66, archived: 36, breaks: [] });
    await tamper(
      db,
      'delete from audit_entries_default where audit_id = (select min(audit_id::text)::uuid from audit_entries_default)',
    );
    expect(await breaks()).toEqual([
      expect.objectContaining({ kind: 'archive_contradicted', detail: expect.stringContaining('37 seals') }),
    ]);
    expect(await breaks(dir)).toEqual([
      expect.objectContaining({ kind: 'entry_missing', chain: team, detail: expect.stringContaining(file()) }),
    ]);
  });

  it('may be followed by others, and by those that hold the records of archives', async () => {
    await archive({ before: '2026-03', drop: true });
    expect(await attached()).toEqual([]);
    expect(await verifyChain(log)).toMatchObject({ archived: 54, months_archived: 2, breaks: [] });
    expect(await verifyChain(log, { archive: dir })).toMatchObject({ archived: 54, breaks: [] });
  });

  it('is in a file that may be compressed anew', async () => {
    await archive();
    writeFileSync(file(), gzipSync(gunzipSync(readFileSync(file())), { level: 1 }));
    expect(await breaks(dir)).toEqual([]);
  });
});

describe('nothing is archived', () => {
  const untouched = async () => {
    expect(await attached()).toEqual(['audit_entries_2026_01', 'audit_entries_2026_02']);
    expect(await db('audit_archives')).toEqual([]);
  };

  it('without a checkpoint that covers the month', async () => {
    await writeOld(team, '2026-01', 1);
    await sealEntries(db);
    await expect(archive()).rejects.toThrow(/No signed checkpoint covers 2026-01: chain .* has its sequence 22/);
    await untouched();
    await writeCheckpoint(log);
    expect(await archive()).toMatchObject({ archived: ['2026-01'] });
  });

  it('of a log that is not intact', async () => {
    await tamper(db, `update audit_entries_2026_02 set action = 'read'`);
    await expect(archive()).rejects.toThrow('not intact (entry_changed)');
    await untouched();
  });

  it('of the present month, or of a month that is none', async () => {
    await expect(archive({ before: '2026-13' })).rejects.toThrow('YYYY-MM');
    expect(await archive({ before: '2999-01' })).toEqual({ archived: ['2026-01', '2026-02'], dropped: [] });
  });

  it('when an entry came after the file was written', async () => {
    const onStep = async (step: ArchiveStep) => {
      if (step === 'named') await writeOld(team, '2026-01', 1);
    };
    await expect(archive({ onStep })).rejects.toThrow('2026-01 has 37 entries, and 36');
    await untouched();
    await writeCheckpoint(log);
    await expect(archive()).rejects.toThrow('holds something else: move it away');
    rmSync(file());
    expect(await archive()).toMatchObject({ archived: ['2026-01'] });
  });

  it('while readers hold on; it tries again', async () => {
    const reader = new pg.Client(log.database.url);
    await reader.connect();
    const steps: ArchiveStep[] = [];
    let released: Promise<unknown> | undefined;
    const onStep = async (step: ArchiveStep) => {
      steps.push(step);
      if (step !== 'named') return;
      await reader.query('begin; select count(*) from audit_entries');
      released = sleep(700).then(() => reader.end());
    };
    expect(await archive({ onStep })).toMatchObject({ archived: ['2026-01'] });
    await released;
    expect(steps).toEqual(['verified', 'written', 'compared', 'named', 'detached']);
  });
});

describe('a file that was tampered with', () => {
  beforeEach(() => archive().then(() => undefined));
  const edit = (change: (lines: string[]) => string[]) => rewrite(file(), change(splitLines(file())));

  const tampering: [what: string, kind: string, change: () => void][] = [
    [
      'an edited entry',
      'entry_changed',
      () => edit((lines) => lines.map((line, at) => (at === 20 ? line.replace('Zoë', 'Zoe') : line))),
    ],
    ['a removed entry', 'entry_missing', () => edit((lines) => lines.toSpliced(20, 1))],
    ['a doubled entry', 'archive_changed', () => edit((lines) => lines.toSpliced(20, 0, lines[20] as string))],
    ['entries in another order', 'entry_missing', () => edit((lines) => lines.toReversed())],
    ['a field more', 'archive_changed', () => edit((lines) => lines.with(0, (lines[0] as string).replace('{', '{"more":1,')))],
    ['a line that is no entry', 'entry_missing', () => edit((lines) => lines.with(20, '{"chain":7}'))],
    ['a cut file', 'entry_missing', () => writeFileSync(file(), readFileSync(file()).subarray(0, 900))],
    ['an empty file', 'entry_missing', () => edit(() => [])],
    ['no file', 'entry_missing', () => rmSync(file())],
  ];

  it('is named, and the table is not dropped', async () => {
    const intact = readFileSync(file());
    for (const [what, kind, change] of tampering) {
      change();
      const found = await breaks(dir);
      expect([what, found[0]?.kind]).toEqual([what, kind]);
      expect(found[0]?.detail).toContain(file());
      expect(found.at(-1)).toMatchObject({ kind: 'archive_changed', detail: expect.stringContaining(file()) });
      await expect(archive({ drop: true })).rejects.toThrow(file());
      writeFileSync(file(), intact);
    }
    expect(await breaks()).toEqual([]);
    expect(await tableExists('audit_entries_2026_01')).toBe(true);
  });

  it('is found with its seal and entry rewritten consistently, because the next seal does not follow', async () => {
    edit((lines) => lines.map((line) => line.replace('zoë@demo.test', 'ada@demo.test')));
    expect((await breaks(dir))[0]).toMatchObject({ kind: 'entry_changed' });
  });
});

describe('the owner of the database', () => {
  it.each<[string, string, string[]]>([
    ['drops a month instead of archiving it', 'entry_missing', ['drop table audit_entries_2026_01']],
    ['deletes the record of an archive', 'entry_missing', ['delete from audit_archives']],
    ['edits the record', 'archive_unrecorded', [`update audit_archives set content_hash = sha256('x')`]],
    ['edits it so that it covers another month', 'archive_contradicted', [`update audit_archives set entries = entries - 1`]],
  ])('does not hide it: %s', async (_what, kind, statements) => {
    if (!statements[0]?.startsWith('drop')) await archive();
    await tamper(db, ...statements);
    expect((await breaks())[0]).toMatchObject({ kind });
  });

  it('removes the guard of the records', async () => {
    await db.raw('alter table audit_archives disable trigger user');
    expect(await breaks()).toEqual([
      expect.objectContaining({ kind: 'guard_changed', detail: expect.stringContaining('audit_archives') }),
      expect.objectContaining({ kind: 'guard_changed', detail: expect.stringContaining('audit_archives') }),
    ]);
  });
});

describe('interrupted', () => {
  it.each<ArchiveStep>(['verified', 'written', 'compared', 'named', 'detached', 'dropped'])(
    'after the step "%s", it loses nothing and goes on',
    async (last) => {
      const onStep = (step: ArchiveStep) => {
        if (step === last) throw new Error('interrupted');
      };
      await expect(archive({ before: '2026-03', drop: true, onStep })).rejects.toThrow('interrupted');
      expect(await verifyChain(log, { archive: dir })).toMatchObject({ breaks: [] });
      await archive({ before: '2026-03', drop: true });
      expect(await attached()).toEqual([]);
      expect(existsSync(`${file()}.part`)).toBe(false);
      expect(await verifyChain(log, { archive: dir })).toMatchObject({ archived: 54, months_archived: 2, breaks: [] });
      expect(await db('audit_entries').where({ action: 'archive' })).toHaveLength(2);
    },
  );

  const command = (...args: string[]): [string[], { env: NodeJS.ProcessEnv }] => {
    const { DATABASE_URL, DATA_DIR } = log.config;
    const env = { ...process.env, NODE_ENV: 'test', LOG_LEVEL: 'silent', DATABASE_URL, DATA_DIR };
    return [['dist/scripts/audit-archive.js', '--before', '2026-03', '--to', dir, ...args], { env }];
  };

  it('by SIGKILL, anywhere, the command loses nothing', async () => {
    for (const word of ['log verified', '2026-01 written', '2026-01 named', '2026-01 detached', '2026-02 compared']) {
      const [args, options] = command('--drop');
      const child = spawn(process.execPath, args, options);
      child.stdout.on('data', (chunk: Buffer) => chunk.includes(word) && child.kill('SIGKILL'));
      await new Promise((resolve) => child.on('close', resolve));
      expect(await verifyChain(log, { archive: dir })).toMatchObject({ breaks: [] });
    }
    const [args, options] = command('--drop');
    const { status, stdout } = spawnSync(process.execPath, args, { ...options, encoding: 'utf8' });
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/archived \d months, dropped \d tables/),
    });
    expect(await attached()).toEqual([]);
    expect(await verifyChain(log, { archive: dir })).toMatchObject({ archived: 54, breaks: [] });
  });
});
