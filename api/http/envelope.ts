import { fromDatabaseError } from '../core/database-errors.js';
import { DomainError } from '../core/errors.js';

/** The one shape of every answer that is no success (contract, section 7). */
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

/** What a caller may see of anything thrown: our own refusals as they are, the database's mapped, the rest without a word. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return fromDatabaseError(thrown) ?? new DomainError('INTERNAL_ERROR', 'Something went wrong on our side', { cause: thrown });
}
