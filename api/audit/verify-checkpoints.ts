import { createReadStream } from 'node:fs';
import type { Knex } from 'knex';
import type { Services } from '../core/context.js';
import { type Checkpoint, checkpointFile, hashLine, NO_LINE, readLine } from './checkpoint.js';
import type { Break } from './chain.js';

type Head = Checkpoint['heads'][number];

/** The file's whole lines; none when there is no file. What follows the last line feed was never finished. */
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

/** The first of these heads that is not on its chain, with the hash that stands there now, if any. */
async function missingHead(db: Knex, heads: Head[]): Promise<(Head & { now: string | null }) | undefined> {
  const { rows } = await db.raw<{ rows: (Head & { now: string | null })[] }>(
    /* sql */ `
select h.chain, h.sequence, h.entry_hash, encode(s.entry_hash, 'hex') as now
from unnest(?::uuid[], ?::bigint[], ?::text[]) as h(chain, sequence, entry_hash)
left join audit_seals s using (chain, sequence)
where encode(s.entry_hash, 'hex') is distinct from h.entry_hash
order by h.chain limit 1`,
    [heads.map((head) => head.chain), heads.map((head) => head.sequence), heads.map((head) => head.entry_hash)],
  );
  return rows[0];
}

/**
 * Checks that every line of the checkpoints is signed, follows the line before it, and names heads that are still on their
 * chains: one that is not means that the chain lost its tail or was written anew since.
 * A line that was cut off from the end of the file leaves no trace in it; the log has a copy of each.
 */
export async function verifyCheckpoints({
  db,
  config,
}: Pick<Services, 'db' | 'config'>): Promise<{ checkpoints: number; broken: Break | null }> {
  const confirmed = new Map<string, string>();
  let checkpoints = 0;
  let previous = NO_LINE;
  const broken = (kind: Break['kind'], detail: string, place: Partial<Break> = {}) => ({
    checkpoints,
    broken: { kind, chain: null, sequence: null, audit_id: null, detail: `Line ${checkpoints} ${detail}`, ...place },
  });

  for await (const line of readLines(checkpointFile(config))) {
    checkpoints += 1;
    const checkpoint = readLine(config, line);
    if (!checkpoint) return broken('checkpoint_altered', 'is not signed with AUDIT_SIGNING_KEY');
    if (checkpoint.previous !== previous) return broken('checkpoint_unlinked', 'does not follow the line before it');
    previous = hashLine(line);
    // Most heads stand still from one checkpoint to the next.
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
    for (const { chain, sequence, entry_hash } of moved) confirmed.set(chain, `${sequence}:${entry_hash}`);
  }
  return { checkpoints, broken: null };
}
