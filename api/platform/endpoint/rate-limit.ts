import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Services } from '../context.js';
import { DomainError } from '../errors.js';
import { type LimitName, LIMITS } from './limits.js';
import { createBatchLoader } from '../database/batching/batch-loader.js';

/** Who is counted; a limit says by which of them. */
interface CountedCaller {
  ip: string | null;
  userId: string | null;
  tokenId?: string | null;
}

export type RateLimiter = (name: LimitName, caller: CountedCaller) => Promise<Record<string, string>>;

/** Returns the key under which a limit counts a caller: an address where the id is missing. */
function getKey(name: LimitName, { ip, userId, tokenId }: CountedCaller): string {
  const { per } = LIMITS[name];
  return (per === 'user' ? userId : per === 'token' ? tokenId : null) ?? addressKey(ip);
}

const WINDOW_SECONDS = 60;

/**
 * Returns the counted address. An IPv6 client owns a whole /64, so the prefix counts; IPv4 counts by address, also when mapped into
 * IPv6.
 */
export function addressKey(ip: string | null): string {
  if (!ip) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped || !ip.includes(':')) return mapped ?? ip;
  const [head = '', tail] = (ip.split('%')[0] as string).toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

const buildHeaders = (name: string, limit: number, { consumed, msBeforeNext }: RateCount): Record<string, string> => ({
  'RateLimit-Policy': `"${name}";q=${limit};w=${WINDOW_SECONDS}`,
  RateLimit: `"${name}";r=${Math.max(0, limit - consumed)};t=${Math.ceil(msBeforeNext / 1000)}`,
});

/** Position of one call in the count, even if several were counted together. */
interface RateCount {
  consumed: number;
  msBeforeNext: number;
}

/**
 * Counts the calls of many clients at once: concurrent calls of one client are one row update, and each still gets its own
 * position.
 */
async function countAll(limiter: RateLimiterPostgres, keys: string[]): Promise<RateCount[]> {
  const calls = new Map<string, number>();
  for (const key of keys) calls.set(key, (calls.get(key) ?? 0) + 1);
  const states = new Map<string, RateLimiterRes>();
  await Promise.all(
    [...calls].map(async ([key, count]) => {
      const state = await limiter.consume(key, count).catch((refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return refusal;
        throw refusal;
      });
      states.set(key, state);
    }),
  );
  return keys.map((key) => {
    const { consumedPoints, msBeforeNext } = states.get(key) as RateLimiterRes;
    const left = (calls.get(key) as number) - 1;
    calls.set(key, left);
    // A client known to exceed the limit is rejected from memory, without being counted.
    return { consumed: consumedPoints === 0 ? Number.POSITIVE_INFINITY : consumedPoints - left, msBeforeNext };
  });
}

/**
 * Counts a call in PostgreSQL, so all processes share the count. The window starts with the key's first call. The returned
 * function yields the RateLimit headers of the response (docs/decisions/platform.md#rate-limit-windows).
 * @throws RATE_LIMIT_EXCEEDED with Retry-After
 */
export function createRateLimiter(services: Services): RateLimiter {
  const limiters = Object.fromEntries(
    Object.entries(LIMITS).map(([name, { setting }]) => {
      const points = services.config[setting];
      const limiter = new RateLimiterPostgres({
        storeClient: services.db,
        storeType: 'knex',
        tableName: 'rate_limits',
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix: name,
        points,
        duration: WINDOW_SECONDS,
        inMemoryBlockOnConsumed: Math.max(points, 1),
      });
      return [name, { count: createBatchLoader((keys: string[]) => countAll(limiter, keys)), points }];
    }),
  );
  return async (name, caller) => {
    const { count, points } = limiters[name] as { count: (key: string) => Promise<RateCount>; points: number };
    if (points === 0) return {};
    const counted = await count(getKey(name, caller));
    const headers = buildHeaders(name, points, counted);
    if (counted.consumed <= points) return headers;
    const retryAfter = String(Math.max(1, Math.ceil(counted.msBeforeNext / 1000)));
    throw new DomainError('RATE_LIMIT_EXCEEDED', 'Too many requests', {
      detail: `At most ${points} requests a minute; try again in ${retryAfter} ${retryAfter === '1' ? 'second' : 'seconds'}`,
      headers: { ...headers, 'Retry-After': retryAfter },
    });
  };
}
