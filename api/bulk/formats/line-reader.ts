import { MAX_LINE_BYTES, MAX_LINES, notUtf8, tooLong, tooManyLines, withoutBom, type BadRecord } from './input.js';

/** A line of text without its end; blank lines are left out. */
export interface TextLine {
  line: number;
  text: string;
}

const LF = 0x0a;

/** Joins the pieces of one line, and counts the lines. Never keeps more than the longest line that is allowed. */
class LineJoiner {
  private pieces: Buffer[] = [];
  private size = 0;
  private line = 0;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  /** Adds bytes of the current line. Those of a line that is already too long are dropped. */
  add(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.size > MAX_LINE_BYTES) this.pieces = [];
    else if (bytes.length > 0) this.pieces.push(bytes);
  }

  /** Ends the current line. Undefined for a blank one. @throws InputError too many lines */
  end(): TextLine | BadRecord | undefined {
    this.line += 1;
    const { line, size } = this;
    if (line > MAX_LINES) throw tooManyLines(line);
    const [first = Buffer.alloc(0)] = this.pieces;
    const joined = this.pieces.length > 1 ? Buffer.concat(this.pieces) : first;
    this.pieces = [];
    this.size = 0;
    if (size > MAX_LINE_BYTES) return { line, problem: tooLong };
    try {
      const text = this.decoder.decode(line === 1 ? withoutBom(joined) : joined).trim();
      return text === '' ? undefined : { line, text };
    } catch {
      return { line, problem: notUtf8 };
    }
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }
}

/**
 * Reads lines that end with LF or CRLF, without a byte order mark, in groups as they arrive. At no time is more in memory than one chunk and
 * one line.
 * @throws InputError too many lines, and what `bytes` throws
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<(TextLine | BadRecord)[]> {
  const joiner = new LineJoiner();
  for await (const chunk of bytes) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: (TextLine | BadRecord)[] = [];
    let from = 0;
    for (let at = buffer.indexOf(LF); at >= 0; at = buffer.indexOf(LF, from)) {
      joiner.add(buffer.subarray(from, at));
      const line = joiner.end();
      if (line) lines.push(line);
      from = at + 1;
    }
    joiner.add(buffer.subarray(from));
    if (lines.length > 0) yield lines;
  }
  const last = joiner.isEmpty ? undefined : joiner.end();
  if (last) yield [last];
}
