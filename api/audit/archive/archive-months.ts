import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import { type Services, serviceContext } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { checkpointFile } from '../checkpoint.js';
import { HASHED_FIELDS, type StoredEntry } from '../chain.js';
import { type PublicKeys, trustedKeys } from '../signing-keys.js';
import { verifyChain } from '../verify-chain.js';
import { verifyCheckpoints } from '../verify-checkpoints.js';
import { type ArchivedEntry, type ArchiveContent, archiveFileName, ArchiveReader, writeArchive } from './archive-file.js';
import { type Archive, archiveDetails, compareContent, listArchives } from './archived-entries.js';
import {
  countEntriesStatement,
  declareEntriesStatement,
  detachMonthStatement,
  dropMonthStatement,
  fetchEntriesStatement,
  isOwnerStatement,
  listDetachedStatement,
  listMonthsStatement,
  PAGE,
  recordArchiveStatement,
} from './archive.sql.js';

/** Attempts to detach a month, and the pause between them, ms: each holds writers up by a quarter of a second at most. */
const MAX_ATTEMPTS = 20;
const PAUSE_MS = 500;

/** Steps in their order. Each may be the last one that happens: running the command again goes on from there. */
export type ArchiveStep = 'verified' | 'written' | 'compared' | 'named' | 'detached' | 'dropped';

export interface ArchiveOptions {
  /** Months before this one, YYYY-MM. */
  before: string;
  /** Folder of the files. */
  dir: string;
  /** Also drops the tables of months whose files are in the folder and intact. */
  drop?: boolean;
  /** Trusted keys of checkpoints; default: those of the settings. */
  keys?: PublicKeys;
  /** Told after each step; the next one waits for it. */
  onStep?: (step: ArchiveStep, month: string | null, detail: string) => void | Promise<void>;
}

interface Month {
  month: string;
  lower_id: string;
  upper_id: string;
}

type Row = StoredEntry & Omit<ArchivedEntry, 'entry'>;

/** Reads a month in the order of its file, and keeps the last sequence of each chain in `last`. `db` is a transaction. */
async function* readMonth(db: Knex, { lower_id, upper_id }: Month, last: Map<string, number>): AsyncGenerator<ArchivedEntry[]> {
  await run(db, declareEntriesStatement, [lower_id, upper_id]);
  for (;;) {
    const rows = await run<Row>(db, fetchEntriesStatement, []);
    for (const { chain, sequence } of rows) last.set(chain, sequence);
    yield rows.map(({ chain, sequence, prev_hash, entry_hash, ...fields }) => {
      const entry = Object.fromEntries(HASHED_FIELDS.map((field) => [field, fields[field]])) as StoredEntry;
      return { chain, sequence, prev_hash, entry_hash, entry };
    });
    if (rows.length < PAGE) return;
  }
}

/**
 * Writes a month into `path`.
 * @throws Error if an entry is not sealed, or the newest checkpoint does not cover all of them
 */
function writeMonth(db: Knex, month: Month, path: string, covered: Map<string, number>): Promise<ArchiveContent> {
  return db.transaction(
    async (trx) => {
      const last = new Map<string, number>();
      const content = await writeArchive(path, readMonth(trx, month, last));
      const [count] = await run<{ entries: number; unsealed: number }>(trx, countEntriesStatement, [
        month.lower_id,
        month.upper_id,
      ]);
      const { entries, unsealed } = count as { entries: number; unsealed: number };
      if (unsealed > 0 || entries !== content.entries) throw new Error(`${unsealed} entries of ${month.month} are not sealed`);
      for (const [chain, sequence] of last)
        if ((covered.get(chain) ?? 0) < sequence)
          throw new Error(
            `No signed checkpoint covers ${month.month}: chain ${chain} has its sequence ${sequence}. Run audit:verify --checkpoint first`,
          );
      return content;
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Gives the written file its name, durably. An equal file of an earlier attempt is replaced, any other is left alone. */
async function nameFile(part: string, path: string, content: ArchiveContent): Promise<void> {
  if ((await exists(path)) && (await compareContent(new ArchiveReader(path), content)) !== null)
    throw new Error(`${path} exists and holds something else: move it away`);
  await rename(part, path);
  const dir = await open(join(path, '..'), 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

const isBusy = (error: unknown): boolean => (error as { code?: string }).code === '55P03';

/**
 * Detaches a month and records that, in one transaction.
 * @throws Error if the month changed since it was written, or readers never let go of it
 */
async function detachMonth(services: Services, archive: Omit<Archive, 'audit_id'>): Promise<void> {
  const { month, lower_id, upper_id, entries, file, content_hash, seals_hash } = archive;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await services.db.transaction(async (db) => {
        const audit_id = await recordChange(serviceContext({ ...services, db }, 'audit:archive'), {
          team_id: null,
          feature: 'audit',
          action: 'archive',
          severity: 'HIGH',
          entity_type: 'audit_log',
          entity_id: month,
          details: archiveDetails({ ...archive, audit_id: '' }),
        });
        const values = [month, lower_id, upper_id, entries, file, content_hash, seals_hash, audit_id];
        await run(db, recordArchiveStatement, values);
        // Last, because it holds up all writers until the commit.
        await run(db, detachMonthStatement, [month, entries]);
      });
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (attempt === MAX_ATTEMPTS) throw new Error(`${month} is in use all the time: try again later`, { cause: error });
      await sleep(PAUSE_MS);
    }
  }
}

/** Archives one month: write, read back, give the file its name, detach. */
async function archiveMonth(
  services: Services,
  month: Month,
  covered: Map<string, number>,
  options: ArchiveOptions,
): Promise<void> {
  const { dir, onStep = () => undefined } = options;
  const file = archiveFileName(month.month);
  const part = join(dir, `${file}.part`);
  const content = await writeMonth(services.db, month, part, covered);
  await onStep('written', month.month, `${content.entries} entries`);
  const defect = await compareContent(new ArchiveReader(part), content);
  if (defect !== null) throw new Error(`${part}: ${defect}`);
  await onStep('compared', month.month, 'every entry in the file has its sealed hash');
  await nameFile(part, join(dir, file), content);
  await onStep('named', month.month, join(dir, file));
  await detachMonth(services, { ...month, ...content, file });
  await onStep('detached', month.month, 'no longer part of the log; its seals stay');
}

/** Drops the detached tables whose files are intact. */
async function dropMonths(services: Services, { dir, onStep = () => undefined }: ArchiveOptions): Promise<string[]> {
  const archives = new Map((await listArchives(services.db)).map((archive) => [archive.month, archive]));
  const dropped: string[] = [];
  for (const { month } of await run<{ month: string }>(services.db, listDetachedStatement, [])) {
    const archive = archives.get(month) as Archive;
    const path = join(dir, archive.file);
    const defect = await compareContent(new ArchiveReader(path), archive);
    if (defect !== null) throw new Error(`${path}: ${defect}; the table of ${month} stays`);
    await services.db.transaction(async (db) => {
      const [row] = await run<{ dropped: boolean }>(db, dropMonthStatement, [month]);
      if (!row?.dropped) return;
      await recordChange(serviceContext({ ...services, db }, 'audit:archive'), {
        team_id: null,
        feature: 'audit',
        action: 'purge',
        severity: 'HIGH',
        entity_type: 'audit_log',
        entity_id: month,
        details: archiveDetails(archive),
      });
    });
    dropped.push(month);
    await onStep('dropped', month, 'the file is the only copy of its entries now');
  }
  return dropped;
}

/**
 * Moves whole months of audit entries into files, oldest first. A month leaves the log only after its file was read back and found to hold
 * exactly the sealed entries, and only if the whole log is intact and a signed checkpoint covers the month. Seals and heads stay. Safe to
 * repeat after any interruption. Tables of archived months stay until `drop`.
 * @returns the months that were archived, and those whose tables were dropped
 * @throws Error without these conditions, or when the caller's role does not own the tables
 */
export async function archiveMonths(
  services: Services,
  options: ArchiveOptions,
): Promise<{ archived: string[]; dropped: string[] }> {
  const { db, config } = services;
  const { before, dir, drop = false, keys = trustedKeys(config), onStep = () => undefined } = options;
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(before)) throw new Error('Give the month as YYYY-MM');
  const [role] = await run<{ owns: boolean }>(db, isOwnerStatement, []);
  if (!role?.owns) throw new Error('Only the owner of the tables can archive: sign in as the role that runs migrations');
  await mkdir(dir, { recursive: true });
  const months = await run<Month & Record<string, unknown>>(db, listMonthsStatement, [before]);
  if (months.length > 0) {
    const { breaks, entries } = await verifyChain(services, { keys });
    if (breaks.length > 0) throw new Error(`The log is not intact (${breaks[0]?.kind}): run audit:verify. Nothing was archived`);
    await onStep('verified', null, `${entries} entries`);
    const { covered } = await verifyCheckpoints(db, checkpointFile(config), keys);
    for (const month of months) await archiveMonth(services, month, covered, options);
  }
  return { archived: months.map(({ month }) => month), dropped: drop ? await dropMonths(services, options) : [] };
}
