import type { Answer } from '../support/app.js';
import type { WireAnswer } from './wire.js';

const UUIDV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Error codes by status. */
const CODES: Record<number, string> = {
  400: 'INVALID_REQUEST',
  401: 'AUTHENTICATION_REQUIRED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'INVALID_REQUEST',
  409: 'RESOURCE_CONFLICT',
  410: 'APPROVAL_EXPIRED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  417: 'INVALID_REQUEST',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMIT_EXCEEDED',
  431: 'INVALID_REQUEST',
  500: 'INTERNAL_ERROR',
  503: 'INTERNAL_ERROR',
};

/** Must not appear in any response: statements, tables, files, stack traces. */
const INNARDS =
  /select |insert |update |delete from|audit_entries|personal_access_tokens|:\d+:\d+|\.[jt]s\b|node_modules|knex|postgres/i;

const flat = (answer: Answer | WireAnswer) => ({
  ...answer,
  header: (name: string): string | undefined =>
    answer.headers instanceof Headers ? (answer.headers.get(name) ?? undefined) : answer.headers[name],
});

/** Checks a response against the envelope: every key, the header equal to `correlation_id`, no internals. */
export function expectEnvelope(answer: Answer | WireAnswer, status: number, code = CODES[status]): void {
  const { body, header } = flat(answer);
  expect({ status: answer.status, code: body?.error_code }).toEqual({ status, code });
  expect(body).toMatchObject({
    success: false,
    verified: false,
    status: 'failure',
    message: expect.stringMatching(/./),
    correlation_id: expect.stringMatching(UUIDV7),
    timestamp: expect.stringMatching(MOMENT),
  });
  expect(header('x-correlation-id')).toBe(body?.correlation_id);
  expect(header('content-type')).toBe('application/json; charset=utf-8');
  expect(header('x-content-type-options')).toBe('nosniff');
  const { detail } = body as { detail: unknown };
  if (status === 422) {
    const { errors } = detail as { errors: { field: string }[] };
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) {
      expect(Object.keys(error).sort()).toEqual(['field', 'message', 'type']);
      expect(error.field).toMatch(/^(body|query|path|header)/);
    }
  } else expect(detail).toEqual(expect.any(String));
  expect(JSON.stringify({ ...body, timestamp: '' })).not.toMatch(INNARDS);
}
