import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** $1 = team ids, $2 = maximum marks, $3 = maximum time in ms, $4 = maximum wait for locks in ms. */
const drainStatement = defineStatement({
  name: 'search_drain',
  text: 'select indexed, behind from search_drain($1::uuid[], $2::int, $3::int, $4::int)',
});

/** Bounds of one call, which its teams share. The time is checked after at most 10 marks. */
export interface DrainLimits {
  maxMarks: number;
  maxMs: number;
  /** Maximum wait for teams that another session indexes, ms; 0 leaves them to it. */
  lockTimeoutMs: number;
}

interface DrainResult extends Record<string, unknown> {
  /** Marks removed. */
  indexed: number;
  /** Marks remain, or another session indexes the team. */
  behind: boolean;
}

/**
 * Indexes marked items of some teams in one transaction of its own.
 * @throws Error inside a transaction, which would keep the teams' locks to its end
 */
export async function drainMarks(
  db: Knex,
  teams: string[],
  { maxMarks, maxMs, lockTimeoutMs }: DrainLimits,
): Promise<DrainResult> {
  if (db.isTransaction) throw new Error('Marks are indexed after the commit, in a transaction of their own');
  const [drained] = await run<DrainResult>(db, drainStatement, [teams, maxMarks, maxMs, lockTimeoutMs]);
  return drained as DrainResult;
}
