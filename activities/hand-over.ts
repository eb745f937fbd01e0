import type { Services } from '../api/core/context.js';

/**
 * Leases what is due of some kinds (`?`, an array), with columns of the row `s` that it is about. A row stays until Temporal took it; the
 * lease lets another relay try when this one dies.
 */
export const leaseOf = (subject: { table: string; match: string; columns: string }): string => /* sql */ `
  with due as (
    select outbox_id from outbox where kind = any(?) and next_attempt_at <= now() order by outbox_id limit 100 for update skip locked
  )
  update outbox o set attempts = o.attempts + 1, next_attempt_at = now() + make_interval(secs => least(60, power(2, least(o.attempts, 6))) + 5)
  from due, ${subject.table} s
  where o.outbox_id = due.outbox_id and ${subject.match}
  returning o.outbox_id, o.kind, o.correlation_id, ${subject.columns}`;

/**
 * Hands leased rows of the outbox to Temporal. What it took is removed; what failed keeps its error and is tried again. Returns how
 * many were taken.
 */
export async function handOver<Row extends { outbox_id: number }>(
  { db, log }: Services,
  rows: Row[],
  send: (row: Row) => Promise<void>,
): Promise<number> {
  const taken = await Promise.all(
    rows.map(async (row) => {
      try {
        await send(row);
        return [row.outbox_id];
      } catch (error) {
        log.warn({ err: error, outbox_id: row.outbox_id }, 'not handed to Temporal, will try again');
        await db('outbox')
          .where({ outbox_id: row.outbox_id })
          .update({ last_error: String(error).slice(0, 500) });
        return [];
      }
    }),
  );
  const ids = taken.flat();
  if (ids.length > 0) await db('outbox').whereIn('outbox_id', ids).delete();
  return ids.length;
}
