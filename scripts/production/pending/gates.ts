import { approveAll, haveActedOnce, openGates, type User } from '../caller.js';
import type { Stack } from '../stack.js';
import type { Pending } from './pending.js';

/** Runs that wait for an approval. Settled: approved, and each acted once. */
export async function beginGates(user: User, stack: Stack, count: number): Promise<Pending> {
  const gates = await openGates(user, count);
  return {
    what: `${count} gates opened before the upgrade`,
    goal: 'each acts once',
    async settle() {
      const comments = await approveAll(user, gates, stack);
      const holds = haveActedOnce(comments, count);
      return { found: holds ? 'each acts once' : comments.join(), holds };
    },
  };
}
