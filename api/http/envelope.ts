import { fromDatabaseError } from '../core/database-errors.js';
import { DomainError } from '../core/errors.js';

/** Builds the body of every error response. */
export function envelope(error: DomainError, correlationId: string): Record<string, unknown> {
  return {
    success: false,
    verified: false,
    status: 'failure',
    error_code: error.code,
    message: error.message,
    detail: error.detail,
    correlation_id: correlationId,
    timestamp: new Date().toISOString(),
    ...error.extra,
  };
}

/** Maps any thrown value to a client error: domain errors as they are, database errors mapped, others without details. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return fromDatabaseError(thrown) ?? new DomainError('INTERNAL_ERROR', 'Internal error', { cause: thrown });
}
