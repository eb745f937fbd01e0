import type { Config } from '../../core/config.js';
import { isSecure } from './cookies.js';

/**
 * On every answer of the web app: nothing runs or styles a page but our own files, no other site frames it or takes its forms,
 * nothing is kept on the way. `same-origin` and not `no-referrer`: with the latter browsers send `Origin: null` with our own forms.
 */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cache-Control': 'no-store',
};

/** The headers of this installation: over TLS, browsers are told to come by nothing else for a year. */
export const headersFor = (config: Config): Record<string, string> =>
  isSecure(config) ? { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000' } : HEADERS;
