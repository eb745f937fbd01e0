import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';

const statement: Statement = { name: 'audit_oldest_unsealed', text: 'select audit_oldest_unsealed_seconds() as seconds' };

/** Age of the oldest entry that is committed and not sealed, in seconds; 0 when there is none. Above a few seconds nobody seals. */
export async function oldestUnsealedSeconds(db: Knex): Promise<number> {
  const [row] = await run<{ seconds: number }>(db, statement, []);
  return row?.seconds ?? 0;
}
