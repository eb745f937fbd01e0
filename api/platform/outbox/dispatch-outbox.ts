import { defineStatement, run, type Statement } from '../../../db/statement.js';
import type { Services } from '../context.js';
import { leaseStatement } from './lease-outbox.sql.js';
import { ASYNC_COMMIT } from './match-events.sql.js';
import { isRowFailure, recordFailure } from './park-row.js';

/** Rows of one kind that a pass leases, so that no kind starves another. */
const ROWS_PER_KIND = 100;
/** gRPC statuses of an invalid request: INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE. */
const REFUSED = new Set([3, 9, 11]);

/** A dispatcher's view of a row: its own columns and those of its subject. */
export interface Dispatchable extends Record<string, unknown> {
  outbox_id: number;
}

/** Dispatches rows of some kinds to Temporal. May be repeated: the subject's rows decide. */
export interface Dispatcher<Row extends { outbox_id: number }> {
  kinds: readonly string[];
  /** $1 = leased rows of these kinds. A row that it does not return has lost its subject and is dropped. */
  details: Statement;
  /** @throws the client's error if Temporal is unavailable or rejects the request */
  dispatch: (row: Row, services: Services) => Promise<void>;
  /** Replaces parking, also for a row older than `afterHours`: ends the subject, and the row is dropped. */
  abandon?: { kind: string; afterHours: number; run: (row: Row, services: Services) => Promise<void> };
}

/** A dispatcher of unknown row type. */
export type AnyDispatcher = Dispatcher<Dispatchable>;

interface LeasedRow extends Record<string, unknown> {
  outbox_id: number;
  kind: string;
  subject: string;
  age_hours: number;
  /** Of a start of a run: its team, or its creator, and its row number among the rows of that owner. */
  owner_id: string | null;
  place: number | null;
}

/** Where the next pass over the starts of runs begins: after this owner. */
export interface OwnerCursor {
  after: string;
}

/** $1 = ids of finished rows. */
const removeStatement = defineStatement({
  name: 'remove_outbox',
  text: `delete from outbox where outbox_id = any($1::bigint[]) and ${ASYNC_COMMIT}`,
});

/** $1 = kind, $2 = hours, $3 = row limit. Returns due rows older than that. */
const expiredStatement = defineStatement({
  name: 'expired_outbox',
  text: /* sql */ `
select o.outbox_id from outbox o
where o.kind = $1 and o.kind <> 'event' and o.next_attempt_at <= now() and o.created_at < now() - make_interval(hours => $2)
order by o.next_attempt_at, o.outbox_id limit $3`,
});

/** Rows of a kind that an outage can have left with a later attempt: those of the seconds before it was noticed. */
const RETRIED_ROWS = 2_000;

/** $1 = kinds, $2 = row limit of each. Rows with a later attempt alone are read, however many are due. */
const retryStatement = defineStatement({
  name: 'retry_outbox',
  text: /* sql */ `
update outbox set next_attempt_at = now()
where outbox_id = any(array(select l.outbox_id from unnest($1::text[]) as wanted(kind) cross join lateral (
  select o.outbox_id from outbox o
  where o.kind = wanted.kind and o.kind <> 'event' and o.next_attempt_at > now() and o.next_attempt_at < 'infinity'
  order by o.next_attempt_at, o.outbox_id limit $2 for update skip locked
) l)) and ${ASYNC_COMMIT}`,
});

export async function removeRows({ db }: Pick<Services, 'db'>, ids: readonly number[]): Promise<number> {
  if (ids.length > 0) await run(db, removeStatement, [ids]);
  return ids.length;
}

/** Makes rows of these dispatchers due that wait for their next attempt, or are leased elsewhere: dispatching twice is safe. */
export async function retryDispatches({ db }: Pick<Services, 'db'>, dispatchers: readonly AnyDispatcher[]): Promise<void> {
  await run(db, retryStatement, [dispatchers.flatMap(({ kinds }) => kinds), RETRIED_ROWS]);
}

/**
 * Returns true if Temporal rejected the request itself, or our own code failed; false if Temporal is unavailable or overloaded.
 */
function countsForRow(error: unknown): boolean {
  for (let each: unknown = error; typeof each === 'object' && each !== null; each = (each as { cause?: unknown }).cause) {
    const { code, name } = each as { code?: unknown; name?: unknown };
    if (typeof code === 'number') return REFUSED.has(code);
    if (name === 'TransportError' || name === 'IllegalStateError') return false;
  }
  return isRowFailure(error);
}

/** Records a failed dispatch. Returns true if the row was abandoned and is finished. */
export async function dispatchFailed<Row extends Dispatchable>(
  services: Services,
  { abandon }: Pick<Dispatcher<Row>, 'abandon'>,
  row: Row,
  { kind, age_hours }: Pick<LeasedRow, 'kind' | 'age_hours'>,
  error: unknown,
): Promise<boolean> {
  const rows = { outbox_ids: [row.outbox_id], leased: true };
  const parked = await recordFailure(services, rows, error, countsForRow(error));
  if (abandon?.kind !== kind || (parked.length === 0 && age_hours < abandon.afterHours)) return false;
  return abandonRow(services, abandon, row);
}

async function abandonRow<Row extends Dispatchable>(
  services: Services,
  abandon: NonNullable<Dispatcher<Row>['abandon']>,
  row: Row,
): Promise<boolean> {
  try {
    await abandon.run(row, services);
    return true;
  } catch (error) {
    await recordFailure(services, { outbox_ids: [row.outbox_id], leased: false }, error, isRowFailure(error));
    return false;
  }
}

/** Dispatches leased rows and returns the finished ones. */
async function dispatchLeased(services: Services, dispatcher: AnyDispatcher, leased: readonly LeasedRow[]): Promise<number[]> {
  if (leased.length === 0) return [];
  const rows = await run<Dispatchable>(services.db, dispatcher.details, [leased.map(({ outbox_id }) => outbox_id)]);
  const details = new Map(rows.map((row) => [row.outbox_id, row]));
  const done = leased.map(async (lease) => {
    const { outbox_id, kind, subject } = lease;
    const row = details.get(outbox_id);
    if (!row) {
      services.log.warn({ kind, subject, outbox_id }, 'nothing to dispatch: its subject does not exist');
      return [outbox_id];
    }
    try {
      await dispatcher.dispatch(row, services);
      return [outbox_id];
    } catch (error) {
      return (await dispatchFailed(services, dispatcher, row, lease, error)) ? [outbox_id] : [];
    }
  });
  return (await Promise.all(done)).flat();
}

/** Leases due rows and dispatches them to Temporal; failed ones are retried. Returns the number of finished rows. */
export async function dispatchOutbox(
  services: Services,
  dispatchers: readonly AnyDispatcher[],
  cursor: OwnerCursor,
): Promise<number> {
  const kinds = dispatchers.flatMap((dispatcher) => dispatcher.kinds);
  const leased = await run<LeasedRow>(services.db, leaseStatement, [kinds, ROWS_PER_KIND, cursor.after]);
  const [last] = leased.toSorted((a, b) => (b.place ?? 0) - (a.place ?? 0));
  cursor.after = last?.owner_id ?? cursor.after;
  const done = dispatchers.map((dispatcher) =>
    dispatchLeased(
      services,
      dispatcher,
      leased.filter(({ kind }) => dispatcher.kinds.includes(kind)),
    ),
  );
  return removeRows(services, (await Promise.all(done)).flat());
}

/** Abandons expired rows while Temporal is unavailable. Returns their number. */
export async function abandonExpired(
  services: Services,
  dispatcher: Pick<AnyDispatcher, 'details' | 'abandon'>,
): Promise<number> {
  const { abandon } = dispatcher;
  if (!abandon) return 0;
  const expired = await run<Dispatchable>(services.db, expiredStatement, [abandon.kind, abandon.afterHours, ROWS_PER_KIND]);
  const ids = expired.map(({ outbox_id }) => outbox_id);
  if (ids.length === 0) return 0;
  const rows = await run<Dispatchable>(services.db, dispatcher.details, [ids]);
  const lost = ids.filter((id) => rows.every((row) => row.outbox_id !== id));
  const done: number[] = [...lost];
  for (const row of rows) if (await abandonRow(services, abandon, row)) done.push(row.outbox_id);
  return removeRows(services, done);
}
