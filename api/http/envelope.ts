import type { DomainError } from '../core/errors.js';

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
