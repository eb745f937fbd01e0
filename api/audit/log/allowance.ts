import { LRUCache } from 'lru-cache';

/** Users that are remembered. */
const MAX_USERS = 10_000;

/** Limits an amount of work of each user in a window of time, which opens with the first work, in this process. */
export class Allowance {
  private readonly used: LRUCache<string, { amount: number }>;

  constructor(
    private readonly max: number,
    windowMs: number,
  ) {
    this.used = new LRUCache({ max: MAX_USERS, ttl: windowMs });
  }

  /** Counts work. Returns false, without counting it, if it exceeds what is left. */
  take(userId: string, amount: number): boolean {
    const used = this.used.get(userId) ?? { amount: 0 };
    if (used.amount + amount > this.max) return false;
    if (used.amount === 0) this.used.set(userId, used);
    used.amount += amount;
    return true;
  }
}
