import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../core/config.js';

/** The field that every form of ours carries. */
export const CSRF_FIELD = '_csrf';

/** Proves that a form came from a page of ours: `binding` is the session's id or, before sign-in, the visitor's cookie. */
export const csrfToken = (config: Config, binding: string): string =>
  createHmac('sha256', config.JWT_SECRET).update(`form token\0${binding}`).digest('base64url');

/** True when the form's token belongs to this browser; compared in constant time. */
export function isOurForm(config: Config, binding: string, given: unknown): boolean {
  const expected = Buffer.from(csrfToken(config, binding));
  const actual = Buffer.from(typeof given === 'string' ? given : '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/**
 * True unless the browser says that another site sent this. `Sec-Fetch-Site` is believed where it comes (TLS and localhost), else
 * `Origin` must name this host; without both, the form's token alone decides.
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
