/** Size of a buffer, bytes. */
const SIZE = 262_144;
/** Most bytes of a UTF-16 code unit in UTF-8. */
const BYTES_PER_UNIT = 3;
const NEWLINE = 10;

/**
 * Collects lines as bytes, each with a line feed. They are written straight into a buffer: kept as texts until a fetch is complete, and joined
 * then, they would be copied once more and live long enough to fill the old generation.
 */
export class LineBuffers {
  private full: Buffer[] = [];
  private buffer = Buffer.allocUnsafe(SIZE);
  private at = 0;

  private flush(): void {
    if (this.at === 0) return;
    this.full.push(this.buffer.subarray(0, this.at));
    // The reader still holds the one before.
    this.buffer = Buffer.allocUnsafe(SIZE);
    this.at = 0;
  }

  add(line: string): void {
    const most = line.length * BYTES_PER_UNIT + 1;
    if (this.at + most > SIZE) this.flush();
    if (most > SIZE) {
      this.full.push(Buffer.from(`${line}\n`));
      return;
    }
    this.at += this.buffer.write(line, this.at);
    this.buffer[this.at] = NEWLINE;
    this.at += 1;
  }

  /** Returns what was added since the last call; whole lines only. */
  take(): Buffer[] {
    this.flush();
    const taken = this.full;
    this.full = [];
    return taken;
  }
}
