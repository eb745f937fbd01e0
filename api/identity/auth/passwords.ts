import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '../../platform/errors.js';

/** Argon2id as OWASP recommends: 19 MiB, 2 passes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Concurrent hashes: at most four, because the thread pool is shared, and one less than the cores, so that requests proceed. */
export const HASHES_AT_ONCE = Math.max(1, Math.min(4, availableParallelism() - 1));
/** Maximum queue length; further callers get 503 (docs/decisions/identity.md#password-hashing-queue). */
export const MAX_WAITING = 100;

let running = 0;
const waiting: (() => void)[] = [];

/** @throws INTERNAL_ERROR 503 when the queue is full */
async function runQueued<T>(work: () => Promise<T>): Promise<T> {
  if (running >= HASHES_AT_ONCE) {
    if (waiting.length >= MAX_WAITING) throw unavailable();
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** Normalizes a password, so that keyboards composing it differently agree. */
const canonical = (password: string): string => password.normalize('NFKC');

export const hashPassword = (password: string): Promise<string> => runQueued(() => hash(canonical(password), OPTIONS));

let decoy: Promise<string> | undefined;

/**
 * Compares a password with the hash that `whose` loads when the comparison starts. Without a hash it fails after the same work, so
 * it does not reveal whether an account exists. Returns what `judge` makes of the result, before the
 * next comparison starts.
 * @throws INTERNAL_ERROR 503 when the queue is full
 */
export async function comparePassword<T extends { password_hash: string | null }, Judged>(
  password: string,
  whose: () => Promise<T>,
  judge: (whose: T, matches: boolean) => Promise<Judged>,
): Promise<Judged> {
  // A failure is not cached: every later caller would get it.
  decoy ??= hashPassword('no account has this password').catch((error: unknown) => {
    decoy = undefined;
    throw error;
  });
  const decoyHash = await decoy;
  return runQueued(async () => {
    const found = await whose();
    const matches = await verify(found.password_hash ?? decoyHash, canonical(password));
    return judge(found, found.password_hash !== null && matches);
  });
}
