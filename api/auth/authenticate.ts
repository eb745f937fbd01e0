import { createHash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { run, type Statement } from '../../db/statement.js';
import type { Actor, UserActor } from '../core/actor.js';
import { isDevelopment } from '../core/config.js';
import type { Services } from '../core/context.js';
import { DEMO_TOKEN } from '../core/demo-token.js';
import { unauthenticated } from '../core/errors.js';
import { Id, NO_ID } from '../core/fields.js';
import { createRowLoader } from '../core/batching/batch-loader.js';
import type { Scope } from '../core/scopes.js';
import { NOTE_AFTER_SECONDS, touchSession } from './touch-session.js';

/** Every personal access token begins so; anything else is taken for a JWT (durability notes, 3.7). */
export const PAT_PREFIX = 'svc_pat_';
const ISSUER = 'assent';
/** Where a sign-in token counts: one that a browser keeps in its cookie is no bearer credential, and the other way round. */
const AUDIENCES = { api: 'assent-api', web: 'assent-web' } as const;
type Use = keyof typeof AUDIENCES;

/**
 * $1 sessions: those that are live, of active persons, and for how long nobody used them, by one indexed look-up. Revocation and
 * suspension act on the next request (A5); who acts as somebody else must still be an active admin of the installation (A12).
 */
const findSession: Statement = {
  name: 'authenticate_session',
  text: /* sql */ `
    select u.user_id, u.email, u.role, s.session_id, s.impersonator_id,
      extract(epoch from now() - s.last_seen_at)::float8 as idle_seconds
    from sessions s join users u using (user_id) left join users i on i.user_id = s.impersonator_id
    where s.session_id = any((select $1::uuid[])::uuid[]) and s.ended_at is null and s.expires_at > now() and u.status = 'active'
      and (s.impersonator_id is null or (i.status = 'active' and i.role = 'admin'))`,
};

/** $1 SHA-256 of secrets: their live tokens, of active persons (contract, section 5). */
const findToken: Statement = {
  name: 'authenticate_token',
  text: /* sql */ `
    select u.user_id, u.email, u.role, t.token_id, t.scopes, t.strict, t.token_hash,
      t.last_used_at is null or t.last_used_at < now() - interval '1 minute' as stale
    from personal_access_tokens t join users u using (user_id)
    where t.token_hash = any((select $1::bytea[])::bytea[]) and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > now()) and u.status = 'active'`,
};

const touchToken: Statement = {
  name: 'touch_token',
  text: /* sql */ `
    update personal_access_tokens set last_used_at = now()
    where token_id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
};

interface Owner {
  user_id: string;
  email: string;
  role: 'user' | 'admin';
}

type Session = Owner & { session_id: string; impersonator_id: string | null; idle_seconds: number };
type Token = Owner & { token_id: string; scopes: Scope[]; strict: boolean; token_hash: Buffer; stale: boolean };

// Requests that come together share a look-up: each still sees the rows as they are after it came.
const sessionOf = createRowLoader(async (db, ids: string[]): Promise<(Session | undefined)[]> => {
  const rows = await run<Session & Record<string, unknown>>(db, findSession, [[...new Set(ids)]]);
  return ids.map((id) => rows.find((row) => row.session_id === id));
});
const tokenOf = createRowLoader(async (db, hashes: Buffer[]): Promise<(Token | undefined)[]> => {
  const rows = await run<Token & Record<string, unknown>>(db, findToken, [hashes]);
  return hashes.map((hash) => rows.find((row) => row.token_hash.equals(hash)));
});

/** SHA-256 of a secret as it is stored and looked up. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const keyOf = (services: Pick<Services, 'config'>) => new TextEncoder().encode(services.config.JWT_SECRET);

interface TokenOptions {
  /** Where it counts; one for the web app lives as long as a session may stay idle. */
  use?: Use;
  /** The instance admin who acts as the user: claim `act` (A12). The session must name the same one. */
  impersonatorId?: string | null;
  /** Life; JWT_MINUTES unless said otherwise. */
  minutes?: number;
  /** The session's own end: no token outlives it. */
  notAfter?: Date;
}

/** Signs a sign-in token for a session (A5). Returns the token and when it ends. */
export async function issueToken(
  services: Pick<Services, 'config'>,
  userId: string,
  sessionId: string,
  { use = 'api', impersonatorId, minutes, notAfter }: TokenOptions = {},
): Promise<{ token: string; expiresAt: Date }> {
  const { JWT_MINUTES, SESSION_IDLE_HOURS } = services.config;
  const life = minutes ?? (use === 'web' ? SESSION_IDLE_HOURS * 60 : JWT_MINUTES);
  const wanted = Date.now() + life * 60_000;
  // Whole seconds, as the claim says it.
  const expiresAt = new Date(Math.floor((notAfter ? Math.min(wanted, notAfter.getTime()) : wanted) / 1_000) * 1_000);
  const token = await new SignJWT({ sid: sessionId, ...(impersonatorId ? { act: { sub: impersonatorId } } : {}) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCES[use])
    .setSubject(userId)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(keyOf(services));
  return { token, expiresAt };
}

async function byToken(services: Services, secret: string): Promise<Actor> {
  if (secret === DEMO_TOKEN && !isDevelopment(services.config)) throw unauthenticated();
  const owner = await tokenOf(services.db, hashOf(secret));
  if (!owner) throw unauthenticated();
  // Noted at most once a minute, beside the request and never on its path; a failure only delays the note (A9).
  if (owner.stale) void run(services.db, touchToken, [owner.token_id]).catch(() => undefined);
  return {
    type: 'pat',
    userId: owner.user_id,
    email: owner.email,
    role: owner.role,
    tokenId: owner.token_id,
    scopes: owner.scopes,
    strict: owner.strict,
  };
}

/** A claim as an id to look up; what is no id of ours finds nothing. */
const known = (claim: unknown): string => Id.safeParse(claim).data ?? NO_ID;

/** The instance admin of the claim `act`, null without one; anything odd finds nothing. */
const actingOf = ({ act }: JWTPayload): string | null =>
  act === undefined ? null : known((act as { sub?: unknown } | null)?.sub);

/** Allowed difference of two clocks, s. */
const CLOCK_TOLERANCE = 5;

interface Way {
  use: Use;
  /** A token whose time is over is taken as long as its session lives. */
  allowExpiredJwt?: boolean;
  /** Nobody sits there: it keeps no session alive. */
  unattended?: boolean;
}

/** @throws AUTHENTICATION_REQUIRED */
async function byJwt(
  services: Services,
  token: string,
  { use, allowExpiredJwt = false, unattended = false }: Way,
): Promise<{ actor: UserActor; issuedAt: Date }> {
  const claims = await jwtVerify(token, keyOf(services), {
    algorithms: ['HS256'],
    typ: 'JWT',
    issuer: ISSUER,
    audience: AUDIENCES[use],
    requiredClaims: ['exp', 'iat', 'sub', 'sid'],
    clockTolerance: CLOCK_TOLERANCE,
  }).then(
    ({ payload }) => payload,
    (error: unknown) => {
      // Everything else about it was found right before its time was looked at.
      if (allowExpiredJwt && error instanceof errors.JWTExpired) return error.payload;
      if (error instanceof errors.JOSEError) throw unauthenticated();
      throw error;
    },
  );
  const session = await sessionOf(services.db, known(claims['sid']));
  if (session?.user_id !== known(claims.sub)) throw unauthenticated();
  // Who acts as another says so in the token too, and nobody else does (A12).
  if (actingOf(claims) !== session.impersonator_id) throw unauthenticated();
  if (session.idle_seconds > services.config.SESSION_IDLE_HOURS * 3_600) throw unauthenticated();
  if (session.idle_seconds > NOTE_AFTER_SECONDS && !unattended) touchSession(services.db, session.session_id);
  const actor: UserActor = {
    type: 'user',
    userId: session.user_id,
    email: session.email,
    role: session.role,
    sessionId: session.session_id,
    impersonatorId: session.impersonator_id,
  };
  return { actor, issuedAt: new Date(Number(claims.iat) * 1000) };
}

/**
 * Who is asking, from the Authorization header, in one round trip. `allowExpiredJwt`: a JWT whose time is over is taken as long as its
 * session lives, which is what a renewal is for (A5).
 * @throws AUTHENTICATION_REQUIRED, the same for every reason (contract, section 5)
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
 * Who is asking, from the token in a browser's session cookie, and when that token was made. `unattended`: a page asks by itself,
 * which is no use of the session.
 * @throws AUTHENTICATION_REQUIRED, the same for every reason
 */
export const authenticateCookie = (
  services: Services,
  token: string,
  unattended: boolean,
): Promise<{ actor: UserActor; issuedAt: Date }> => byJwt(services, token, { use: 'web', unattended });
