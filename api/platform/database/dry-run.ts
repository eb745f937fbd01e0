import type { Knex } from 'knex';

/** Rolls back a dry run. */
class DryRunRollback extends Error {}

/**
 * Performs the work and rolls it back, so that every check applies here too.
 * @throws what `work` throws
 */
export async function dryRun(db: Knex, work: (db: Knex) => Promise<void>): Promise<void> {
  const played = db.transaction(async (inner) => {
    await work(inner);
    throw new DryRunRollback();
  });
  await played.catch((thrown: unknown) => {
    if (!(thrown instanceof DryRunRollback)) throw thrown;
  });
}
