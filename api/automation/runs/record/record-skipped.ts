import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { idAt } from '../../../platform/ids.js';
import { findSkippedStatement, recordSkippedStatement } from './record-skipped.sql.js';

/** A run that ended before it began. Its event is not kept. */
export interface SkippedRun {
  /** From `deriveSkippedId`, so that one cause is recorded once. */
  run_id: string;
  automation_id: string;
  automation_version: number;
  triggered_by: string | null;
  depth: number;
  skip_reason: 'condition_false' | 'loop';
  condition_error: string | null;
}

/** Approximate bytes that a skipped run writes (docs/reports/2026-11-23-performance.md). */
export const SKIPPED_RUN_BYTES = 200;
/** A run keeps the beginning of its condition's error: as much as `SKIPPED_RUN_BYTES` has room for, in bytes of UTF-8. */
const MAX_ERROR_BYTES = 48;

/** Derives the id of a skipped run from the id that a run of the same cause would have, and the time of the cause. */
export const deriveSkippedId = (runId: string, at: Date): string => idAt(at.getTime(), runId);

function shortError(error: string | null): string | null {
  if (error === null || Buffer.byteLength(error) <= MAX_ERROR_BYTES) return error;
  const room = MAX_ERROR_BYTES - Buffer.byteLength('…');
  let end = 0;
  let bytes = 0;
  for (const character of error) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    end += character.length;
  }
  return `${error.slice(0, end)}…`;
}

/**
 * Records skipped runs in the transaction that removes their cause. Beyond SKIPPED_RUNS_PER_HOUR of a team they are counted and
 * not kept. Omits runs of deleted automations and runs that exist.
 * @returns how many were recorded or counted
 */
export async function recordSkipped(
  { db, config }: Pick<Services, 'db' | 'config'>,
  runs: readonly SkippedRun[],
): Promise<number> {
  if (runs.length === 0) return 0;
  const records = runs.map(({ skip_reason, condition_error, ...rest }) => ({
    ...rest,
    is_loop: skip_reason === 'loop',
    condition_error: shortError(condition_error),
  }));
  const values = [JSON.stringify(records), config.SKIPPED_RUNS_PER_HOUR];
  const [counted] = await run<{ recorded: number }>(db, recordSkippedStatement, values);
  return counted?.recorded ?? 0;
}

/** Returns whether the skipped run exists. One that was counted and not kept does not. */
export const isSkipped = async ({ db }: Pick<Services, 'db'>, runId: string): Promise<boolean> =>
  (await run(db, findSkippedStatement, [runId])).length > 0;
