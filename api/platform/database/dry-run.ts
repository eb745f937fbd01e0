import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** Until the end of the transaction; triggers look at it. */
const settingStatement = defineStatement({
  name: 'set_dry_run',
  text: "select set_config('assent.dry_run', 'on', true)",
});

/** Rolls back a dry run. */
class DryRunRollback extends Error {}

/**
 * Performs the work and rolls it back, so that every check applies here too.
 * @throws what `work` throws
 */
export async function dryRun(db: Knex, work: (db: Knex) => Promise<void>): Promise<void> {
  const played = db.transaction(async (inner) => {
    // A rollback does not take back all that a trigger does: the number of a task (docs/decisions/work.md#task-numbers).
    await run(inner, settingStatement, []);
    await work(inner);
    throw new DryRunRollback();
  });
  await played.catch((thrown: unknown) => {
    if (!(thrown instanceof DryRunRollback)) throw thrown;
  });
}
