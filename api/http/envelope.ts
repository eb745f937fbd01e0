import type { DomainError } from '../platform/errors.js';

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

/** Code of JSON-RPC for a request that is refused before its message is read. */
const INVALID_REQUEST = -32_600;

/** Adds the keys of a JSON-RPC error to an envelope, unless the error brings its own. */
export const withJsonRpc = (body: Record<string, unknown>, { message, status }: DomainError): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: status >= 500 ? -32_603 : INVALID_REQUEST, message },
  ...body,
});
