import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../context.js';
import { fromDatabaseError, wasRolledBack } from '../database/database-errors.js';
import { DomainError } from '../errors.js';

/** A row is parked after this many failures of its own, or at its next one once it is this old, in hours. */
const MAX_FAILURES = 10;
const MAX_AGE_HOURS = 24;
const MAX_ERROR_LENGTH = 500;

/** SQLSTATEs of a conflict, a deadlock, and a lock timeout. */
const BUSY = /^(40001|40P01|55P03)$/;
/** SQLSTATEs of a server that is stopping or out of resources. */
const AWAY = /^(57P0[1-5]|53\d\d\d|08\d\d\d)$/;

/** Returns the SQLSTATE of a rejected statement on a live server; undefined for other errors. */
function refusalCode(error: unknown): string | undefined {
  const { nativeError: inner = error } = (error ?? {}) as { nativeError?: unknown };
  return wasRolledBack(inner) ? String((inner as { code?: unknown }).code) : undefined;
}

/** Returns true if a retry may succeed: a lock or a conflict. */
export const isBusy = (error: unknown): boolean => BUSY.test(refusalCode(error) ?? '');

/** $1 = row ids, $2 = error, $3 = whether it counts as the row's own failure, $4 = whether the next attempt is already set. */
const statement = defineStatement({
  name: 'fail_outbox_rows',
  text: /* sql */ `
with failed as materialized (
  select o.outbox_id, $3::boolean and (o.failures + 1 >= ${MAX_FAILURES}
    or o.created_at < now() - make_interval(hours => ${MAX_AGE_HOURS})) as parks
  from outbox o where o.outbox_id = any($1::bigint[]) order by o.outbox_id for update
)
update outbox o set last_error = $2, failures = o.failures + $3::boolean::int, attempts = o.attempts + (not $4::boolean)::int,
  next_attempt_at = case when f.parks then 'infinity' when $4 then o.next_attempt_at else now() + outbox_backoff(o.attempts) end,
  parked_at = case when f.parks then now() end
from failed f where o.outbox_id = f.outbox_id
returning o.outbox_id, o.kind, o.subject, o.team_id, f.parks as parked`,
});

interface ParkedRow extends Record<string, unknown> {
  outbox_id: number;
  kind: string;
  subject: string;
  team_id: string | null;
  parked: boolean;
}

/** Returns true if PostgreSQL rejected the row's statement or our own code failed; false for an unavailable server or a lock. */
export function isRowFailure(error: unknown): boolean {
  const code = refusalCode(error);
  if (code !== undefined) return !BUSY.test(code) && !AWAY.test(code);
  const { nativeError: inner = error } = (error ?? {}) as { nativeError?: unknown };
  const known = inner instanceof DomainError ? inner : fromDatabaseError(inner);
  return known?.status !== 503;
}

/**
 * Records a failure on the rows, with growing backoff. Failures of the row itself (`counts`) finally park it: it keeps its error,
 * no worker reads it, and an operator can replay it (docs/decisions/platform.md#parked-rows). Parking is logged as an error.
 * @returns the rows parked now
 */
export async function recordFailure(
  { db, log }: Pick<Services, 'db' | 'log'>,
  { outbox_ids, leased }: { outbox_ids: readonly number[]; leased: boolean },
  error: unknown,
  counts: boolean,
): Promise<number[]> {
  const message = (error instanceof Error ? String(error) : 'unknown')
    .slice(0, MAX_ERROR_LENGTH)
    .toWellFormed()
    .replaceAll('\u0000', '');
  const rows = await run<ParkedRow>(db, statement, [outbox_ids, message, counts, leased]);
  for (const { parked, outbox_id, kind, subject, team_id } of rows) {
    const about = { err: error, outbox_id, kind, subject, team_id };
    if (parked) log.error(about, 'outbox row parked; npm run admin -- outbox-parked lists it');
    else log.warn(about, 'outbox row failed, will be tried again');
  }
  return rows.filter(({ parked }) => parked).map(({ outbox_id }) => outbox_id);
}
