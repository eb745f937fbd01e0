import { Messages } from '../prepare/prepared.js';
import { type ChunkKind, isFollowUp, type PreparedRow } from '../prepare/sorted-rows.js';

/** A row of `bulk_rows`: what became of a record that was written, or what its id in the file stands for. */
export interface WrittenRow {
  line: number;
  part: number;
  entity: string;
  /** Id in the file, if the stored record has another one. */
  ref: string | null;
  item_id: string;
  outcome: 'created' | 'updated' | 'skipped';
}

/** Id of a record in the file, and of the stored record. */
export interface Identity {
  ref?: string | null | undefined;
  id: string;
}

/** Collects what becomes of the rows of a chunk. */
export class ChunkResult {
  readonly written: WrittenRow[] = [];
  readonly errors = new Messages();
  readonly notes = new Messages();
  readonly counts = { created: 0, updated: 0, skipped: 0, failed: 0 };

  constructor(private readonly kind: ChunkKind) {}

  private keep(row: PreparedRow, { ref, id }: Identity, outcome: WrittenRow['outcome']): void {
    const isOther = ref != null && ref !== id;
    // A record that was skipped and has its own id says nothing that the file does not.
    if (outcome !== 'skipped' || isOther) {
      const { line, part } = row;
      this.written.push({ line, part, entity: this.kind, ref: isOther ? ref : null, item_id: id, outcome });
    }
    this.counts[outcome] += 1;
  }

  created = (row: PreparedRow, identity: Identity): void => this.keep(row, identity, 'created');
  updated = (row: PreparedRow, identity: Identity): void => this.keep(row, identity, 'updated');
  skipped = (row: PreparedRow, identity: Identity): void => this.keep(row, identity, 'skipped');

  /** A follow-up that fails is a note: its record was counted when it was written. */
  failed(row: PreparedRow, message: string): void {
    if (isFollowUp(this.kind)) return this.noted(row, message);
    this.counts.failed += 1;
    this.errors.add(row.line, this.kind, message);
  }

  noted(row: Pick<PreparedRow, 'line'>, message: string): void {
    this.notes.add(row.line, this.kind, message);
  }

  /** Rows that are done, for the progress. */
  get processed(): number {
    const { created, updated, skipped, failed } = this.counts;
    return created + updated + skipped + failed;
  }
}
