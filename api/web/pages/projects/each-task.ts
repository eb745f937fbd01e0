import { DomainError } from '../../../platform/errors.js';

/** Changes at a time: they share statements, and those that fail share few connections. */
const AT_ONCE = 20;

/** What became of each item. */
export interface EachResult<T, R> {
  done: { item: T; result: R }[];
  failed: { item: T; error: DomainError }[];
}

/** Does one thing with each item, some at a time; each succeeds or fails by itself. @throws any error that no caller is to blame for */
export async function eachTask<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<EachResult<T, R>> {
  const found: EachResult<T, R> = { done: [], failed: [] };
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = items.slice(at, at + AT_ONCE);
    const settled = await Promise.allSettled(some.map(act));
    for (const [index, one] of settled.entries()) {
      const item = some[index] as T;
      if (one.status === 'fulfilled') found.done.push({ item, result: one.value });
      else if (one.reason instanceof DomainError && one.reason.status < 500) found.failed.push({ item, error: one.reason });
      else throw one.reason;
    }
  }
  return found;
}
