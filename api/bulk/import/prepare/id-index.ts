import { createHash } from 'node:crypto';

const FIRST_SLOTS = 1024;
/** Digits of a hash that a number holds exactly. */
const HEX_DIGITS = 13;

/** Returns the hash of an id as a whole number above 0. Two ids of one file never share one by chance (52 bits of SHA-256). */
export const computeHash = (id: string): number =>
  Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, HEX_DIGITS), 16) + 1;

/** Finds the row of an id. A million rows take 24 MB, where a Map of the ids would take 150. */
export class IdIndex {
  private hashes = new Float64Array(FIRST_SLOTS);
  private rows = new Int32Array(FIRST_SLOTS);
  private size = 0;

  /** Keeps the first row of an id. */
  add(hash: number, row: number): void {
    if (this.size * 2 >= this.hashes.length) this.grow();
    const slot = this.getSlot(hash);
    if (this.hashes[slot] !== 0) return;
    this.hashes[slot] = hash;
    this.rows[slot] = row;
    this.size += 1;
  }

  /** Returns the row of an id; -1 if it has none. */
  getRowNumber(hash: number): number {
    const slot = this.getSlot(hash);
    return this.hashes[slot] === 0 ? -1 : (this.rows[slot] as number);
  }

  private getSlot(hash: number): number {
    const mask = this.hashes.length - 1;
    let slot = hash % this.hashes.length;
    while (this.hashes[slot] !== 0 && this.hashes[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  private grow(): void {
    const { hashes, rows } = this;
    this.hashes = new Float64Array(hashes.length * 2);
    this.rows = new Int32Array(rows.length * 2);
    this.size = 0;
    for (const [at, hash] of hashes.entries()) if (hash !== 0) this.add(hash, rows[at] as number);
  }
}

/** Whole numbers that grow in number, without a JavaScript object for each. */
export class NumberList {
  private values = new Float64Array(FIRST_SLOTS);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const longer = new Float64Array(this.values.length * 2);
      longer.set(this.values);
      this.values = longer;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.values[index] as number;
  }
}
