import type { IncomingMessage } from 'node:http';
import type { Config } from '../../core/config.js';

/** Every cookie of the web app, with how long the browser keeps it, seconds. All are HttpOnly, SameSite=Lax and for the whole host. */
const COOKIES = {
  /** The session: a token that counts nowhere else. Ends earlier when the session does. */
  session: null,
  /** Ties the forms of somebody who is not signed in to their browser. */
  visitor: 12 * 3600,
  /** One line for the next page, such as "Saved". */
  notice: 60,
  /** What a sign-in or sign-up under way has got so far, sealed. */
  step: 600,
  /** Makes this browser a trusted device, as long as the device is one (A3). */
  device: 30 * 86_400,
  /** An administrator's own session, while they act as somebody else. */
  own: null,
} as const;
export type CookieName = keyof typeof COOKIES;

/** True where browsers come over TLS only. */
export const isSecure = (config: Config): boolean =>
  config.NODE_ENV === 'production' || config.BASE_URL?.startsWith('https:') === true;

/** `__Host-`: no other host, path or plain connection can set it, so nobody can plant a cookie of theirs. */
const fullName = (config: Config, name: CookieName): string => `${isSecure(config) ? '__Host-' : ''}assent-${name}`;

/** The value of a cookie; undefined where the browser sent none. */
export function readCookie(config: Config, request: Pick<IncomingMessage, 'headers'>, name: CookieName): string | undefined {
  const prefix = `${fullName(config, name)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return found?.slice(prefix.length);
}

/** A `Set-Cookie` line; `value` null deletes. `value` is written as it is: base64url or a JWT. */
export function cookieLine(config: Config, name: CookieName, value: string | null): string {
  const seconds = value === null ? 0 : (COOKIES[name] ?? config.SESSION_IDLE_HOURS * 3600);
  const parts = [`${fullName(config, name)}=${value ?? ''}`, 'Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax'];
  return [...parts, ...(isSecure(config) ? ['Secure'] : [])].join('; ');
}
