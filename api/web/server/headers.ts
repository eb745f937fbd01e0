import type { Config } from '../../platform/config.js';
import { isSecure } from './cookies.js';

/**
 * Sent with every page: scripts and styles from our files only, no framing, no foreign form targets, no caching. `same-origin`
 * instead of `no-referrer`, because with the latter browsers send `Origin: null` with our own forms.
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

/** Returns the headers of this installation; over TLS they include HSTS for one year. */
export const headersFor = (config: Config): Record<string, string> =>
  isSecure(config) ? { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000' } : HEADERS;
