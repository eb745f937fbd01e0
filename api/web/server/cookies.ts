import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config.js';

/** All cookies of the web app with their lifetime in seconds. Each is HttpOnly, SameSite=Lax and valid for the whole host. */
const COOKIES = {
  /** The session: a token valid only in this cookie. Ends early with the session. */
  session: null,
  /** Binds a visitor's forms to the browser. */
  visitor: 12 * 3600,
  /** A one-line message for the next page, such as "Saved". */
  notice: 60,
  /** With the notice: what its Undo button takes back, encrypted. */
  undo: 60,
  /** Encrypted state of a pending sign-in or sign-up. */
  step: 600,
  /** Makes this browser a trusted device, for the device's lifetime. */
  device: 30 * 86_400,
  /** Id of the team whose page was shown last. */
  team: 90 * 86_400,
  /** An administrator's own session while impersonating. */
  own: null,
} as const;
export type CookieName = keyof typeof COOKIES;

/** Returns whether browsers connect by TLS only. */
export const isSecure = (config: Config): boolean =>
  config.NODE_ENV === 'production' || config.BASE_URL?.startsWith('https:') === true;

/** `__Host-`: no other host, path or plain connection can set it, which prevents cookie injection. */
const fullName = (config: Config, name: CookieName): string => `${isSecure(config) ? '__Host-' : ''}assent-${name}`;

/** Returns the value of a cookie, or undefined. */
export function readCookie(config: Config, request: Pick<IncomingMessage, 'headers'>, name: CookieName): string | undefined {
  const prefix = `${fullName(config, name)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length);
}

/** Returns a `Set-Cookie` line; null deletes the cookie. `value` needs no escaping: it is base64url or a JWT. */
export function cookieLine(config: Config, name: CookieName, value: string | null): string {
  const seconds = value === null ? 0 : (COOKIES[name] ?? config.SESSION_IDLE_HOURS * 3600);
  const parts = [`${fullName(config, name)}=${value ?? ''}`, 'Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax'];
  return [...parts, ...(isSecure(config) ? ['Secure'] : [])].join('; ');
}
