import { types } from 'node:util';
import { busy, conflict, type DomainError, invalidFields, unavailable } from './errors.js';

/**
 * What the driver says, without any code, of a connection that broke, was closed or cannot be had in time. knex puts the statement
 * in front of it.
 */
const CONNECTION_LOST =
  /(^| - )(Connection terminated( unexpectedly)?|Client has encountered a connection error and is not queryable|Client was closed and is not queryable|timeout expired|Query read timeout|Unable to acquire a connection)$/;

/**
 * Turns what PostgreSQL or its pool threw into what a caller may see, by SQLSTATE (durability notes, 3.9, last rows).
 * Nothing of the statement, the table or the values leaves. Returns undefined for what is no database error.
 */
export function fromDatabaseError(error: unknown): DomainError | undefined {
  // Not `instanceof`: errors of Node's sockets may come from another realm than ours (tests, worker threads).
  if (!types.isNativeError(error)) return undefined;
  // Objection wraps violated constraints and leaves the SQLSTATE on the error inside.
  if ('nativeError' in error) return fromDatabaseError(error.nativeError);
  if (error.name === 'KnexTimeoutError' || /timeout exceeded when trying to connect/.test(error.message))
    return unavailable(error);
  const { code } = error as Error & { code?: unknown };
  if (typeof code !== 'string') return CONNECTION_LOST.test(error.message) ? unavailable(error) : undefined;
  if (/^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/.test(code))
    return unavailable(error);
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  if (code.startsWith('22')) {
    return invalidFields([{ field: 'body', message: 'A value cannot be stored', type: 'unstorable' }]);
  }
  if (code === '23505') return conflict('It already exists');
  if (code === '23503') return conflict('Something it refers to no longer exists');
  // Somebody else holds what it needs; nothing of it was written.
  if (code === '55P03') return busy(error);
  // Serialisation failures and deadlocks were retried before they got here; cancelled statements, exhausted connections,
  // a transaction that stood idle too long, a server that starts, stops or is gone: all pass.
  if (/^(40001|40P01|25P03|57014|57P0[123]|53\d\d\d|08\d\d\d)$/.test(code)) return unavailable(error);
  return undefined;
}

/** True for what is worth running again at once: a serialisation failure or a deadlock's victim. */
export const isTransient = (error: unknown): boolean =>
  types.isNativeError(error) && ['40001', '40P01'].includes((error as Error & { code?: string }).code ?? '');

/**
 * True when PostgreSQL refused a statement that was a transaction of its own, and lives: nothing of it was done. False where that
 * cannot be known, as when the connection broke before the answer.
 */
export const wasRolledBack = (error: unknown): boolean =>
  types.isNativeError(error) && (error as Error & { severity?: string }).severity === 'ERROR';
