const CONCURRENCY = 10;

/**
 * Calls `work` for each item, ten at a time. A failure does not stop the others; after ten failures the server is taken for unavailable, and the
 * rest is left to the next pass.
 * @throws the first failure, at the end
 */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.toReversed();
  const errors: unknown[] = [];
  const take = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined && errors.length < CONCURRENCY; item = left.pop()) {
      await work(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, take));
  if (errors.length > 0) throw errors[0];
}
