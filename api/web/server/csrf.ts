import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config.js';

/** Hidden field of every form. */
export const CSRF_FIELD = '_csrf';

/** What proves the browser. `binding`: the session id or, before sign-in, the visitor cookie. */
const proofOf = (config: Config, binding: string): string =>
  createHmac('sha256', config.JWT_SECRET).update(`form token\0${binding}`).digest('base64url');

/** Returns the CSRF token of the forms of one rendered page: the proof of the browser, and a key that no other page has. */
export const csrfToken = (config: Config, binding: string): string =>
  `${proofOf(config, binding)}.${randomBytes(16).toString('base64url')}`;

/** Returns the key in the token of a form: two forms with one key were sent from one page. Undefined without one. */
export const readPageKey = (given: unknown): string | undefined =>
  typeof given === 'string' ? /\.([\w-]{22})$/.exec(given)?.[1] : undefined;

/** Returns whether the form's token belongs to this browser; compares in constant time. */
export function isOurForm(config: Config, binding: string, given: unknown): boolean {
  const expected = Buffer.from(proofOf(config, binding));
  const actual = Buffer.from(typeof given === 'string' ? (given.split('.')[0] as string) : '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/**
 * Returns false if the browser reports another origin: by `Sec-Fetch-Site` where sent (TLS and localhost), otherwise by `Origin`.
 * Without both headers the form's token alone decides.
 */
export function isOurSite(config: Config, request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const named = new URL(origin).host;
  return named === host || (config.BASE_URL !== undefined && named === new URL(config.BASE_URL).host);
}
