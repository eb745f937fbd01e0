import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../platform/errors.js';
import { readBody } from '../../platform/endpoint/read-body.js';

const MAX_FORM = 64 * 1024;

export type Fields = Record<string, unknown>;

/** A field sent once is a string, a repeated one a list, which scalar schemas reject. One pass: a form may have very many fields. */
function listFields(text: string): Fields {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (Array.isArray(known)) known.push(value);
    else fields.set(name, known === undefined ? value : [known, value]);
  }
  return Object.fromEntries(fields);
}

/**
 * Returns the fields of a posted form.
 * @throws UNSUPPORTED_MEDIA_TYPE | PAYLOAD_TOO_LARGE
 */
export async function readForm(request: IncomingMessage, maxBytes = MAX_FORM): Promise<Fields> {
  const bytes = await readBody(request, maxBytes);
  if (bytes.length === 0) return {};
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Expected an HTML form');
  }
  return listFields(bytes.toString('utf8'));
}
