import { createReadStream } from 'node:fs';
import type { Knex } from 'knex';
import { defineStatement, run } from '../../db/statement.js';
import type { Break, BreakKind } from './break.js';
import { type Checkpoint, hashLine, NO_LINE, readLine } from './checkpoint.js';
import type { PublicKeys } from './signing-keys.js';

type Head = Checkpoint['heads'][number];

export interface CheckpointsReport {
  /** Number of lines read, including the broken one. */
  checkpoints: number;
  /** Time of the last valid line. */
  newest: string | null;
  /** Sequence of each chain's head in the last valid line. */
  covered: Map<string, number>;
  broken: Break | null;
}

/** Yields the complete lines of the file, none without a file. Text after the last line feed is incomplete and ignored. */
async function* readLines(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  try {
    for await (const block of createReadStream(path) as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, block]);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        yield rest.subarray(0, end);
        rest = rest.subarray(end + 1);
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** $1 = chains, $2 = sequences, $3 = hashes, hexadecimal: one head each. */
const missingHeadStatement = defineStatement({
  name: 'find_missing_head',
  text: /* sql */ `
    select h.chain, h.sequence, h.entry_hash, encode(s.entry_hash, 'hex') as now
    from unnest($1::uuid[], $2::bigint[], $3::text[]) as h(chain, sequence, entry_hash)
    left join audit_seals s using (chain, sequence)
    where encode(s.entry_hash, 'hex') is distinct from h.entry_hash
    order by h.chain limit 1`,
});

/** Returns the first of these heads that is not on its chain, with the hash now at its position, if any. */
async function missingHead(db: Knex, heads: Head[]): Promise<(Head & { now: string | null }) | undefined> {
  const [row] = await run<Head & { now: string | null }>(db, missingHeadStatement, [
    heads.map((head) => head.chain),
    heads.map((head) => head.sequence),
    heads.map((head) => head.entry_hash),
  ]);
  return row;
}

/**
 * Checks that every line of `file` is signed with one of `keys`, follows its predecessor, and names heads that are still on their chains; a
 * missing head means that the chain was truncated or rewritten. Lines truncated from the file are found by `compareWithWitness` only.
 */
export async function verifyCheckpoints(db: Knex, file: string, keys: PublicKeys): Promise<CheckpointsReport> {
  const confirmed = new Map<string, string>();
  const report: CheckpointsReport = { checkpoints: 0, newest: null, covered: new Map(), broken: null };
  let previous = NO_LINE;
  const broken = (kind: BreakKind, detail: string, place: Partial<Break> = {}) => {
    const words = `Line ${report.checkpoints} of ${file} ${detail}`;
    return { ...report, broken: { kind, chain: null, sequence: null, audit_id: null, detail: words, ...place } };
  };

  for await (const line of readLines(file)) {
    report.checkpoints += 1;
    const checkpoint = readLine(keys, line);
    if ('kind' in checkpoint) return broken(checkpoint.kind, checkpoint.detail);
    if (checkpoint.previous !== previous) return broken('checkpoint_unlinked', 'does not follow the line before it');
    previous = hashLine(line);
    // Most heads do not change between two checkpoints.
    const moved = checkpoint.heads.filter(
      ({ chain, sequence, entry_hash }) => confirmed.get(chain) !== `${sequence}:${entry_hash}`,
    );
    const missing = await missingHead(db, moved);
    if (missing) {
      const { chain, sequence, entry_hash, now } = missing;
      const found = now === null ? 'is no longer there' : `has the hash ${now} now`;
      const detail = `(${checkpoint.time}) saw the chain at sequence ${sequence} with the hash ${entry_hash}; that place ${found}`;
      return broken('checkpoint_contradicted', detail, { chain, sequence });
    }
    report.newest = checkpoint.time;
    report.covered = new Map(checkpoint.heads.map(({ chain, sequence }) => [chain, sequence]));
    for (const { chain, sequence, entry_hash } of moved) confirmed.set(chain, `${sequence}:${entry_hash}`);
  }
  return report;
}

/** Checks that `file` starts with the lines of `witness`, an earlier copy stored outside this host's control. */
export async function compareWithWitness(file: string, witness: string): Promise<Break | null> {
  const lines = readLines(file);
  let count = 0;
  try {
    for await (const kept of readLines(witness)) {
      count += 1;
      const { value } = await lines.next();
      if (value?.equals(kept)) continue;
      const detail = `Line ${count} of ${witness} ${value ? `is another than in ${file}` : `is missing in ${file}`}`;
      return { kind: 'witness_contradicted', chain: null, sequence: null, audit_id: null, detail };
    }
  } finally {
    await lines.return(undefined);
  }
  return null;
}
