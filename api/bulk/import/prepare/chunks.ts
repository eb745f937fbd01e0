import type { ChunkKind } from './sorted-rows.js';
import type { RowFile } from './row-file.js';

/** A part of the prepared object that is written in one transaction. */
export interface Chunk {
  chunk: number;
  kind: ChunkKind;
  /** First byte, and the byte behind the last. */
  byte_from: number;
  byte_to: number;
  rows: number;
}

/** Rows of one transaction: tasks are written in one statement, others one by one. */
const ROWS: Partial<Record<ChunkKind, number>> = { task: 500 };
const OTHER_ROWS = 100;
/** Bytes of one transaction, so that long texts do not fill the memory. */
const BYTES = 4 * 1024 * 1024;

/** Joins files into the prepared object, and cuts it into chunks meanwhile. */
export class ChunkWriter {
  readonly chunks: Chunk[] = [];
  private position = 0;
  private open: Chunk | undefined;

  constructor(private readonly files: readonly { kind: ChunkKind; file: RowFile }[]) {}

  /** The bytes of the object. `chunks` is complete when all were read. */
  async *bytes(): AsyncGenerator<Buffer> {
    for (const { kind, file } of this.files) {
      this.open = undefined;
      for await (const rows of file.read()) {
        for (const row of rows) this.add(kind, row.length);
        yield Buffer.concat(rows);
      }
    }
  }

  private add(kind: ChunkKind, size: number): void {
    const { open, position } = this;
    const isFull = open && (open.rows >= (ROWS[kind] ?? OTHER_ROWS) || open.byte_to - open.byte_from + size > BYTES);
    if (!open || isFull) {
      this.open = { chunk: this.chunks.length, kind, byte_from: position, byte_to: position, rows: 0 };
      this.chunks.push(this.open);
    }
    const current = this.open as Chunk;
    this.position += size;
    current.byte_to = this.position;
    current.rows += 1;
  }
}
