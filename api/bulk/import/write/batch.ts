import type { Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { RecordKind, RecordOf } from '../records/schemas.js';
import type { ChunkResult } from './chunk-result.js';
import type { Refs } from './refs.js';

/** What to do with a record whose id the team already has. */
export const ON_CONFLICT = ['error', 'skip', 'update'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** What the rows of a chunk are written with: all of it in one transaction. */
export interface Batch {
  ctx: Context;
  job_id: string;
  team_id: string;
  /** Project of records that name none. */
  project_id: string | null;
  on_conflict: OnConflict;
  /** The file is of another product: what it names and the team lacks is a note, no error. */
  isForeign: boolean;
  /** Place in the manual order of a task that was created when the import was asked for. */
  place: number;
  /** Role of the importer, locked until the commit. */
  seat: Seat;
  result: ChunkResult;
  refs: Refs;
}

/** A row of one kind, with its record. */
export type Row<K extends RecordKind> = Omit<PreparedRow, 'record'> & { record: RecordOf<K> };

/** Writes the rows of a chunk, all of one kind. */
export type Write = (batch: Batch, rows: PreparedRow[]) => Promise<void>;
