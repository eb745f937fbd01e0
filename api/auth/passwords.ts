import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '../core/errors.js';

/** Argon2id as OWASP sets it: 19 MiB, 2 passes (A7). */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Hashes at once: four at most, because the thread pool is everybody's, and always a core less than there are (durability notes, 3.7). */
export const HASHES_AT_ONCE = Math.max(1, Math.min(4, availableParallelism() - 1));
/** And so many wait; the next is told to come back. */
export const MAX_WAITING = 100;

let running = 0;
const waiting: (() => void)[] = [];

/** @throws INTERNAL_ERROR 503 when too many wait already */
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

/** One spelling of one password, however the keyboard composed it. */
const canonical = (password: string): string => password.normalize('NFKC');

export const hashPassword = (password: string): Promise<string> => runQueued(() => hash(canonical(password), OPTIONS));

let decoy: Promise<string> | undefined;

/**
 * Compares a password with what `whose` finds when the turn has come. Where it finds no hash the comparison costs the same time and
 * fails: no account oracle.
 * @throws INTERNAL_ERROR 503 when too many wait already
 */
export async function comparePassword<T extends { password_hash: string | null }>(
  password: string,
  whose: () => Promise<T>,
): Promise<{ whose: T; matches: boolean }> {
  // A refusal is not kept: it would be everybody's answer for ever.
  decoy ??= hashPassword('no account has this password').catch((error: unknown) => {
    decoy = undefined;
    throw error;
  });
  const nobodys = await decoy;
  return runQueued(async () => {
    const found = await whose();
    const matches = await verify(found.password_hash ?? nobodys, canonical(password));
    return { whose: found, matches: found.password_hash !== null && matches };
  });
}
