import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { authenticate, authenticateCookie, issueToken } from '../../auth/authenticate.js';
import type { Actor, UserActor } from '../../core/actor.js';
import type { Services } from '../../core/context.js';
import { DomainError } from '../../core/errors.js';
import { cookieLine, readCookie } from './cookies.js';

/** The cookie is written anew when it is older than this, so that who works is not signed out, ms. */
const RENEW_AFTER_MS = 5 * 60_000;

export interface BrowserSession {
  actor: UserActor | null;
  /** What the tokens of forms are bound to. */
  binding: string;
  /** `Set-Cookie` lines that the answer must carry. */
  cookies: string[];
}

const isUser = (actor: Actor): actor is UserActor => actor.type === 'user';

async function actorOf(
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

/**
 * Who sits at this browser. A cookie whose session has ended is taken away; one that is in use is written anew, unless
 * `unattended`: a page that looks for news by itself keeps nobody signed in.
 */
export async function readSession(services: Services, request: IncomingMessage, unattended: boolean): Promise<BrowserSession> {
  const { config } = services;
  const token = readCookie(config, request, 'session');
  const known = token === undefined ? null : await actorOf(services, token, unattended);
  if (known) {
    const { actor, issuedAt } = known;
    const isOld = Date.now() - issuedAt.getTime() > RENEW_AFTER_MS;
    const cookies = isOld && !unattended ? [await sessionCookie(services, actor)] : [];
    return { actor, binding: actor.sessionId, cookies };
  }
  const cookies = token === undefined ? [] : [cookieLine(config, 'session', null)];
  const visitor = readCookie(config, request, 'visitor');
  if (visitor && /^[\w-]{43}$/.test(visitor)) return { actor: null, binding: visitor, cookies };
  const fresh = randomBytes(32).toString('base64url');
  return { actor: null, binding: fresh, cookies: [...cookies, cookieLine(config, 'visitor', fresh)] };
}

async function sessionCookie(services: Services, { userId, sessionId, impersonatorId }: UserActor): Promise<string> {
  const { token } = await issueToken(services, userId, sessionId, { use: 'web', impersonatorId });
  return cookieLine(services.config, 'session', token);
}

/** Puts the browser into the session that `apiToken` stands for; whatever it held before counts no longer. */
export async function signInCookies(services: Services, apiToken: string): Promise<string[]> {
  const actor = await authenticate(services, `Bearer ${apiToken}`);
  if (!isUser(actor)) throw new Error('Only a person signs in to the web app');
  return [await sessionCookie(services, actor), cookieLine(services.config, 'visitor', null)];
}

export const signOutCookies = ({ config }: Services): string[] => [cookieLine(config, 'session', null)];
