import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import { timeOfId } from '../../platform/ids.js';
import type { Break } from '../break.js';
import type { StoredEntry } from '../chain.js';
import { type ArchiveContent, ArchiveReader } from './archive-file.js';
import { listArchivesStatement, readRecordsStatement } from './archive.sql.js';

/** A row of `audit_archives`; hashes are hexadecimal. */
export interface Archive extends ArchiveContent {
  month: string;
  lower_id: string;
  upper_id: string;
  file: string;
  audit_id: string;
}

export const listArchives = (db: Knex): Promise<Archive[]> =>
  run<Archive & Record<string, unknown>>(db, listArchivesStatement, []);

/** Content of the audit entry that records an archive. */
export const archiveDetails = ({ entries, content_hash, seals_hash, file }: Archive): Record<string, unknown> => ({
  entries,
  file,
  content_sha256: content_hash,
  seals_sha256: seals_hash,
});

const getMonth = (audit_id: string): string => new Date(timeOfId(audit_id)).toISOString().slice(0, 7);

interface OpenMonth {
  archive: Archive;
  /** Seals met so far whose entries are not in the log. */
  entries: number;
  seals: Hash;
  reader: ArchiveReader | null;
  /** Defect of the file; nothing more is read from it. */
  broken: string | null;
}

type Seal = { chain: string; sequence: number; sealed_id: string; entry_hash: Buffer };

/**
 * Accounts for seals whose entries an operator has archived, while verification walks along the chains. Without a folder of archives only
 * number and hashes of these seals are compared with what was recorded; with one the entries come from its files.
 */
export class ArchivedEntries {
  readonly #months: Map<string, OpenMonth>;

  constructor(
    archives: Archive[],
    private readonly dir: string | undefined,
  ) {
    this.#months = new Map(
      archives.map((archive) => {
        const reader = dir === undefined ? null : new ArchiveReader(join(dir, archive.file));
        return [archive.month, { archive, entries: 0, seals: createHash('sha256'), reader, broken: null }];
      }),
    );
  }

  /** Number of archived entries met. */
  get count(): number {
    return [...this.#months.values()].reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Returns true if the entry of this seal is in an archived month. Call it once for each seal without an entry, in order. */
  covers({ sealed_id, entry_hash }: Seal): boolean {
    const month = this.#months.get(getMonth(sealed_id));
    if (!month || sealed_id < month.archive.lower_id || sealed_id >= month.archive.upper_id) return false;
    month.entries += 1;
    month.seals.update(entry_hash);
    return true;
  }

  /** Returns the entry from its file, null if it is not there, undefined without files. */
  async read({ chain, sequence, sealed_id }: Seal): Promise<StoredEntry | null | undefined> {
    const month = this.#months.get(getMonth(sealed_id)) as OpenMonth;
    const { reader } = month;
    if (!reader) return undefined;
    if (month.broken !== null) return null;
    try {
      for (let line = await reader.peek(); line; line = await reader.peek()) {
        const order = line.chain === chain ? line.sequence - sequence : line.chain < chain ? -1 : 1;
        if (order > 0) return null;
        reader.pass();
        if (order === 0) return line.entry.audit_id === sealed_id ? line.entry : null;
      }
    } catch (error) {
      month.broken = (error as Error).message;
    }
    return null;
  }

  /** Path of the file with this entry. */
  getFileName({ sealed_id }: Seal): string {
    return join(this.dir as string, (this.#months.get(getMonth(sealed_id)) as OpenMonth).archive.file);
  }

  /**
   * Returns the archives that differ from their records. `complete`: every chain was read to its end, so the seals of the archived months
   * are all known. Closes the files.
   */
  async finish(complete: boolean): Promise<Break[]> {
    const breaks: Break[] = [];
    const broken = (kind: Break['kind'], detail: string) =>
      breaks.push({ kind, chain: null, sequence: null, audit_id: null, detail });
    for (const { archive, entries, seals, reader, broken: defect } of this.#months.values()) {
      const { month } = archive;
      if (complete && (entries !== archive.entries || seals.digest('hex') !== archive.seals_hash))
        broken('archive_contradicted', `${month} has ${entries} seals without entries, archived were ${archive.entries}`);
      if (!reader) continue;
      const found = defect ?? (await compareContent(reader, archive));
      if (found !== null) broken('archive_changed', `${reader.path}: ${found}`);
      await reader.close();
    }
    return breaks;
  }
}

/** Returns how the file differs from its record; null if it does not. Reads the file to its end. */
export async function compareContent(reader: ArchiveReader, archive: ArchiveContent): Promise<string | null> {
  try {
    const found = await reader.finish();
    if (found.entries !== archive.entries) return `it has ${found.entries} entries, archived were ${archive.entries}`;
    if (found.seals_hash !== archive.seals_hash) return 'its entries do not have their sealed hashes';
    return found.content_hash === archive.content_hash ? null : 'its content has another SHA-256 than when it was archived';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Compares the records of archives with the sealed audit entries about them. An entry that is archived itself is left to its file. */
export async function findUnrecorded(db: Knex, archives: Archive[]): Promise<Break[]> {
  const rows = await run<{ audit_id: string; month: string; details: string }>(db, readRecordsStatement, [
    archives.map(({ audit_id }) => audit_id),
  ]);
  const recorded = new Map(rows.map((row) => [row.audit_id, row]));
  const months = new Set(archives.map(({ month }) => month));
  return archives.flatMap((archive): Break[] => {
    const { audit_id, month } = archive;
    const entry = recorded.get(audit_id);
    if (!entry && months.has(getMonth(audit_id))) return [];
    const details = entry ? (JSON.parse(entry.details) as Record<string, unknown>) : {};
    const differs = Object.entries(archiveDetails(archive)).some(([key, value]) => details[key] !== value);
    if (entry?.month === month && !differs) return [];
    const detail = `The record of ${month} is not what the audit entry about it says`;
    return [{ kind: 'archive_unrecorded', chain: null, sequence: null, audit_id, detail }];
  });
}
