import { types } from 'node:util';
import { isOutdatedPlan } from '../../../db/statement.js';
import { busy, conflict, DomainError, invalid, invalidFields, unavailable } from '../errors.js';

/** Driver messages without a code for a connection that broke, closed or timed out. knex prefixes the statement. */
const CONNECTION_LOST =
  /(^| - )(Connection terminated( unexpectedly)?|Client has encountered a connection error and is not queryable|Client was closed and is not queryable|timeout expired|Query read timeout|Unable to acquire a connection)$/;

/** Errors of check constraints that a caller can violate, by name. */
const CONSTRAINTS: Record<string, () => DomainError> = {
  automation_versions_definition_size: () =>
    invalid('The definition is larger than 64 kB', { detail: 'Shorten its condition or its actions.' }),
};

/**
 * Maps errors of PostgreSQL and its pool to client errors, by SQLSTATE. Statement, table and values never leak. Returns undefined
 * for other errors.
 */
export function fromDatabaseError(error: unknown): DomainError | undefined {
  // Not `instanceof`: socket errors of Node may come from another realm (tests, worker threads).
  if (!types.isNativeError(error)) return undefined;
  // Objection wraps constraint violations and keeps the SQLSTATE on the inner error.
  if ('nativeError' in error) return fromDatabaseError(error.nativeError);
  if (error.name === 'KnexTimeoutError' || /timeout exceeded when trying to connect/.test(error.message))
    return unavailable(error);
  const { code, constraint = '' } = error as Error & { code?: unknown; constraint?: string };
  if (typeof code !== 'string') return CONNECTION_LOST.test(error.message) ? unavailable(error) : undefined;
  if (/^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/.test(code))
    return unavailable(error);
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  if (code.startsWith('22')) {
    return invalidFields([{ field: 'body', message: 'A value cannot be stored', type: 'unstorable' }]);
  }
  if (code === '23505') return conflict('Already exists');
  if (code === '23503') return conflict('A referenced resource no longer exists');
  if (code === '23514') return CONSTRAINTS[constraint]?.();
  // Lock timeout; nothing was written.
  if (code === '55P03') return busy(error);
  // All temporary: serialization failures and deadlocks (already retried), cancelled statements, exhausted connections, idle
  // transactions, a server that starts, stops or is down.
  if (/^(40001|40P01|25P03|57014|57P0[123]|53\d\d\d|08\d\d\d)$/.test(code) || isOutdatedPlan(error)) return unavailable(error);
  return undefined;
}

/** Returns whether a statement took longer than its connection allows; other reasons to cancel one are not meant. */
export const isStatementTimeout = (error: unknown): boolean =>
  types.isNativeError(error) &&
  (error as Error & { code?: string }).code === '57014' &&
  error.message.endsWith('due to statement timeout');

/** Returns whether to retry at once: a serialization failure or a deadlock. */
export const isTransient = (error: unknown): boolean =>
  types.isNativeError(error) && ['40001', '40P01'].includes((error as Error & { code?: string }).code ?? '');

/**
 * Returns whether PostgreSQL rejected a single-statement transaction, so nothing was written. False when unknown, for example after
 * a lost connection.
 */
export const wasRolledBack = (error: unknown): boolean =>
  types.isNativeError(error) && (error as Error & { severity?: string }).severity === 'ERROR';

/** Maps any thrown value to a client error: domain errors as they are, database errors mapped, others without details. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return fromDatabaseError(thrown) ?? new DomainError('INTERNAL_ERROR', 'Internal error', { cause: thrown });
}
