import type { IncomingMessage } from 'node:http';
import { DomainError, invalidFields } from '../../core/errors.js';
import { parseJson, readBody } from '../../http/read-body.js';

const MAX_FORM = 64 * 1024;

export type Fields = Record<string, unknown>;

/** A field sent once is a string, one sent several times is a list; what takes a scalar refuses the list. */
function fieldsOf(text: string): Fields {
  const form = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

/** True when a program speaks to us in JSON, not a browser's form. */
export const speaksJson = (request: IncomingMessage): boolean =>
  /^application\/json\b/i.test(request.headers['content-type'] ?? '');

/**
 * The fields of a posted form, or of a JSON object where one was sent.
 * @throws UNSUPPORTED_MEDIA_TYPE | PAYLOAD_TOO_LARGE | VALIDATION_ERROR
 */
export async function readForm(request: IncomingMessage): Promise<Fields> {
  const bytes = await readBody(request, MAX_FORM);
  if (bytes.length === 0) return {};
  if (speaksJson(request)) {
    const value = parseJson(bytes);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    throw invalidFields([{ field: 'body', message: 'Must be an object', type: 'invalid_type' }]);
  }
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send a form');
  }
  return fieldsOf(bytes.toString('utf8'));
}
