import { createHash } from 'node:crypto';
import { type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Services } from '../../platform/context.js';

export const ISSUER = 'assent';
/** Audience of a sign-in token: a cookie's token is no bearer credential, and vice versa. */
export const AUDIENCES = { api: 'assent-api', web: 'assent-web' } as const;
export type Use = keyof typeof AUDIENCES;

/** Allowed clock difference, s. */
const CLOCK_TOLERANCE = 5;

/**
 * Claims of tokens that were verified before, by the hash of key, use and token. A client sends the same token with every request, and the
 * check of its signature takes a job in another thread each time: 80 us of a request. Time alone makes a verified token invalid, as
 * sessions are looked up for every request.
 */
const verified = new LRUCache<string, JWTPayload>({ max: 10_000 });

/** Returns the key of signatures. */
export const getKey = ({ config }: Pick<Services, 'config'>): Uint8Array => new TextEncoder().encode(config.JWT_SECRET);

/**
 * Verifies the signature and the claims of a JWT of ours. `now`: ms since 1970.
 * @throws JOSEError of `jose`; JWTExpired only for a token that is valid otherwise
 */
export async function verifyJwt(
  services: Pick<Services, 'config'>,
  token: string,
  use: Use,
  now = Date.now(),
): Promise<JWTPayload> {
  const hash = createHash('sha256').update(`${services.config.JWT_SECRET} ${use} ${token}`).digest('base64');
  const known = verified.get(hash);
  if (known && Number(known.exp) > Math.floor(now / 1_000) - CLOCK_TOLERANCE) return known;
  const { payload } = await jwtVerify(token, getKey(services), {
    algorithms: ['HS256'],
    typ: 'JWT',
    issuer: ISSUER,
    audience: AUDIENCES[use],
    requiredClaims: ['exp', 'iat', 'sub', 'sid'],
    clockTolerance: CLOCK_TOLERANCE,
    currentDate: new Date(now),
  });
  verified.set(hash, payload);
  return payload;
}
