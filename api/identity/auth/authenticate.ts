import { createHash } from 'node:crypto';
import { errors, type JWTPayload, SignJWT } from 'jose';
import { defineStatement, run } from '../../../db/statement.js';
import type { Actor, UserActor } from '../../platform/access/actor.js';
import { isDevelopment } from '../../platform/config.js';
import type { Services } from '../../platform/context.js';
import { DEMO_TOKEN } from '../../platform/demo-token.js';
import { unauthenticated } from '../../platform/errors.js';
import { Id, NO_ID } from '../../platform/fields.js';
import { createRowLoader } from '../../platform/database/batching/batch-loader.js';
import type { Scope } from '../../platform/access/scopes.js';
import { NOTE_AFTER_SECONDS, touchSession } from './touch-session.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { AUDIENCES, ISSUER, getKey, type Use, verifyJwt } from './verify-jwt.js';

/** Prefix of every personal access token; any other credential is parsed as a JWT. */
export const PAT_PREFIX = 'svc_pat_';

/** SQL: whether a session `s` of the user `u` is live; `i` is its impersonator, if any. */
export const IS_LIVE_SESSION = /* sql */ `s.ended_at is null and s.expires_at > now() and u.status = 'active'
      and (s.impersonator_id is null or (i.status = 'active' and i.role = 'admin'))`;

/** SQL: whether a token `t` of the user `u` is live. */
export const IS_LIVE_TOKEN = /* sql */ `t.revoked_at is null
      and (t.expires_at is null or t.expires_at > now()) and u.status = 'active'`;

/**
 * $1 = session ids. Returns the live sessions of active users with their idle time, by one indexed lookup. Revocation and
 * suspension take effect on the next request; an impersonator must still be an active administrator.
 */
const findSessionStatement = defineStatement({
  name: 'authenticate_session',
  text: /* sql */ `
    select u.user_id, u.email, u.role, s.session_id, s.impersonator_id,
      extract(epoch from now() - s.last_seen_at)::float8 as idle_seconds
    from sessions s join users u using (user_id) left join users i on i.user_id = s.impersonator_id
    where s.session_id = any((select $1::uuid[])::uuid[]) and ${IS_LIVE_SESSION}`,
});

/** $1 = SHA-256 hashes of tokens. Returns the live tokens of active users. */
const findTokenStatement = defineStatement({
  name: 'authenticate_token',
  text: /* sql */ `
    select u.user_id, u.email, u.role, t.token_id, t.scopes, t.strict, t.mcp_only, t.token_hash,
      t.last_used_at is null or t.last_used_at < now() - interval '1 minute' as stale
    from personal_access_tokens t join users u using (user_id)
    where t.token_hash = any((select $1::bytea[])::bytea[]) and ${IS_LIVE_TOKEN}`,
});

const touchToken = defineStatement({
  name: 'touch_token',
  text: /* sql */ `
    update personal_access_tokens set last_used_at = now()
    where token_id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
});

interface Owner {
  user_id: string;
  email: string;
  role: InstanceRole;
}

type Session = Owner & { session_id: string; impersonator_id: string | null; idle_seconds: number };
type Token = Owner & {
  token_id: string;
  scopes: Scope[];
  strict: boolean;
  mcp_only: boolean;
  token_hash: Buffer;
  stale: boolean;
};

// Concurrent requests share a lookup; each still sees rows no older than its own arrival.
const findSession = createRowLoader(async (db, ids: string[]): Promise<(Session | undefined)[]> => {
  const rows = await run<Session & Record<string, unknown>>(db, findSessionStatement, [[...new Set(ids)]]);
  return ids.map((id) => rows.find((row) => row.session_id === id));
});
const findToken = createRowLoader(async (db, hashes: Buffer[]): Promise<(Token | undefined)[]> => {
  const rows = await run<Token & Record<string, unknown>>(db, findTokenStatement, [hashes]);
  return hashes.map((hash) => rows.find((row) => row.token_hash.equals(hash)));
});

/** Returns the SHA-256 under which a secret is stored and looked up. */
export const computeHash = (secret: string): Buffer => createHash('sha256').update(secret).digest();

interface TokenOptions {
  /** Audience; a web token lives as long as a session may stay idle. */
  use?: Use;
  /** The impersonating administrator: claim `act`. The session must name the same one. */
  impersonatorId?: string | null;
  /** Lifetime; defaults to JWT_MINUTES. */
  minutes?: number;
  /** End of the session, which no token outlives. */
  notAfter?: Date;
}

/** Signs a token for a session. Returns the token and its expiry. */
export async function issueToken(
  services: Pick<Services, 'config'>,
  userId: string,
  sessionId: string,
  { use = 'api', impersonatorId, minutes, notAfter }: TokenOptions = {},
): Promise<{ token: string; expiresAt: Date }> {
  const { JWT_MINUTES, SESSION_IDLE_HOURS } = services.config;
  const life = minutes ?? (use === 'web' ? SESSION_IDLE_HOURS * 60 : JWT_MINUTES);
  const wanted = Date.now() + life * 60_000;
  // Whole seconds, as in the claim.
  const expiresAt = new Date(Math.floor((notAfter ? Math.min(wanted, notAfter.getTime()) : wanted) / 1_000) * 1_000);
  const token = await new SignJWT({ sid: sessionId, ...(impersonatorId ? { act: { sub: impersonatorId } } : {}) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCES[use])
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(getKey(services));
  return { token, expiresAt };
}

async function byToken(services: Services, secret: string): Promise<Actor> {
  if (secret === DEMO_TOKEN && !isDevelopment(services.config)) throw unauthenticated();
  const owner = await findToken(services.db, computeHash(secret));
  if (!owner) throw unauthenticated();
  // Updated at most once a minute and asynchronously, so requests never wait for it; a failure only delays it.
  if (owner.stale) void run(services.db, touchToken, [owner.token_id]).catch(() => undefined);
  return {
    type: 'pat',
    userId: owner.user_id,
    email: owner.email,
    role: owner.role,
    tokenId: owner.token_id,
    scopes: owner.scopes,
    strict: owner.strict,
    mcpOnly: owner.mcp_only,
  };
}

/** Returns the claim as an id; a malformed one finds nothing. */
const known = (claim: unknown): string => Id.safeParse(claim).data ?? NO_ID;

/** Returns the administrator in the claim `act`, null without one; a malformed one finds nothing. */
const readActor = ({ act }: JWTPayload): string | null =>
  act === undefined ? null : known((act as { sub?: unknown } | null)?.sub);

interface Way {
  use: Use;
  /** Accepts an expired JWT while its session is active. */
  allowExpiredJwt?: boolean;
  /** Automatic request: does not extend the session. */
  unattended?: boolean;
}

/** @throws AUTHENTICATION_REQUIRED */
async function byJwt(
  services: Services,
  token: string,
  { use, allowExpiredJwt = false, unattended = false }: Way,
): Promise<{ actor: UserActor; issuedAt: Date }> {
  const claims = await verifyJwt(services, token, use).catch((error: unknown) => {
    // The signature and all other claims were verified before the expiry.
    if (allowExpiredJwt && error instanceof errors.JWTExpired) return error.payload;
    if (error instanceof errors.JOSEError) throw unauthenticated();
    throw error;
  });
  const session = await findSession(services.db, known(claims['sid']));
  if (session?.user_id !== known(claims.sub)) throw unauthenticated();
  // Token and session must agree on the impersonator.
  if (readActor(claims) !== session.impersonator_id) throw unauthenticated();
  if (session.idle_seconds > services.config.SESSION_IDLE_HOURS * 3_600) throw unauthenticated();
  if (session.idle_seconds > NOTE_AFTER_SECONDS && !unattended) touchSession(services.db, session.session_id);
  const actor: UserActor = {
    type: 'user',
    userId: session.user_id,
    email: session.email,
    role: session.role,
    sessionId: session.session_id,
    impersonatorId: session.impersonator_id,
    tokenExpiresAt: Number(claims.exp) * 1000,
  };
  return { actor, issuedAt: new Date(Number(claims.iat) * 1000) };
}

/**
 * Authenticates the Authorization header in one round trip. `allowExpiredJwt` accepts an expired JWT while its session is active,
 * for renewals.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export async function authenticate(
  services: Services,
  authorization: string | undefined,
  allowExpiredJwt = false,
): Promise<Actor> {
  const credential = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  if (!credential) throw unauthenticated();
  if (credential.startsWith(PAT_PREFIX)) return byToken(services, credential);
  return (await byJwt(services, credential, { use: 'api', allowExpiredJwt })).actor;
}

/**
 * Authenticates the token of a session cookie and returns when it was issued. `unattended`: an automatic request, which does not
 * extend the session.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export const authenticateCookie = (
  services: Services,
  token: string,
  unattended: boolean,
): Promise<{ actor: UserActor; issuedAt: Date }> => byJwt(services, token, { use: 'web', unattended });
