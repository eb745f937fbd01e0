import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authenticate, authenticateCookie, issueToken } from '../../identity/auth/authenticate.js';
import type { Actor, UserActor } from '../../platform/access/actor.js';
import type { Config } from '../../platform/config.js';
import type { Services } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { cookieLine, readCookie } from './cookies.js';

/** Minimum age of a cookie before it is renewed, ms; active users stay signed in. */
const RENEW_AFTER_MS = 5 * 60_000;

export interface BrowserSession {
  actor: UserActor | null;
  /** Value that CSRF tokens are bound to. */
  binding: string;
  /** `Set-Cookie` lines for the response. */
  cookies: string[];
}

const isUser = (actor: Actor): actor is UserActor => actor.type === 'user';

async function findSessionActor(
  services: Services,
  token: string,
  unattended: boolean,
): Promise<{ actor: UserActor; issuedAt: Date } | null> {
  try {
    return await authenticateCookie(services, token, unattended);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'AUTHENTICATION_REQUIRED') return null;
    throw error;
  }
}

/** Returns the user signed in to the web app in this browser, not impersonating; null for none. */
export async function signedInUserId(services: Services, headers: IncomingMessage['headers']): Promise<string | null> {
  const token = readCookie(services.config, { headers }, 'session');
  const known = token === undefined ? null : await findSessionActor(services, token, false);
  return known && known.actor.impersonatorId === null ? known.actor.userId : null;
}

interface ResolvedSession {
  actor: UserActor;
  cookies: string[];
}

/** Returns the cookie's session, renewed if old; after an impersonation ends, the administrator's own session. */
async function findSession(services: Services, request: IncomingMessage, unattended: boolean): Promise<ResolvedSession | null> {
  const { config } = services;
  const [token, own] = [readCookie(config, request, 'session'), readCookie(config, request, 'own')];
  const known = token === undefined ? null : await findSessionActor(services, token, unattended);
  if (known) {
    const isOld = Date.now() - known.issuedAt.getTime() > RENEW_AFTER_MS;
    return { actor: known.actor, cookies: isOld && !unattended ? [await sessionCookie(services, known.actor)] : [] };
  }
  const before = own === undefined ? null : await findSessionActor(services, own, unattended);
  if (!before) return null;
  return { actor: before.actor, cookies: [await sessionCookie(services, before.actor), cookieLine(config, 'own', null)] };
}

/**
 * Resolves the browser's session. Deletes the cookie of an ended session and renews an active one, except for an `unattended`
 * automatic refresh, which does not extend the session.
 */
export async function readBrowserSession(
  services: Services,
  request: IncomingMessage,
  unattended: boolean,
): Promise<BrowserSession> {
  const { config } = services;
  const found = await findSession(services, request, unattended);
  if (found) return { ...found, binding: found.actor.sessionId };
  const cookies = (['session', 'own'] as const)
    .filter((name) => readCookie(config, request, name) !== undefined)
    .map((name) => cookieLine(config, name, null));
  const visitor = readCookie(config, request, 'visitor');
  if (visitor && /^[\w-]{43}$/.test(visitor)) return { actor: null, binding: visitor, cookies };
  const fresh = randomBytes(32).toString('base64url');
  return { actor: null, binding: fresh, cookies: [...cookies, cookieLine(config, 'visitor', fresh)] };
}

async function sessionCookie(services: Services, { userId, sessionId, impersonatorId }: UserActor): Promise<string> {
  const { token } = await issueToken(services, userId, sessionId, { use: 'web', impersonatorId });
  return cookieLine(services.config, 'session', token);
}

/** Signs the browser in to the session of `apiToken`, replacing any previous one. */
export async function signInCookies(services: Services, apiToken: string): Promise<string[]> {
  const actor = await authenticate(services, `Bearer ${apiToken}`);
  if (!isUser(actor)) throw new Error('Only a person signs in to the web app');
  const { config } = services;
  return [await sessionCookie(services, actor), cookieLine(config, 'visitor', null), cookieLine(config, 'step', null)];
}

/** Signs out; after an impersonation, returns to the administrator's own session. */
export function signOutCookies(config: Config, request: IncomingMessage): string[] {
  const own = readCookie(config, request, 'own') ?? null;
  return [cookieLine(config, 'session', own), ...(own === null ? [] : [cookieLine(config, 'own', null)])];
}
