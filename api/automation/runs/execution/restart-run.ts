import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';

/** $1 = run id, $2 = expected incarnation, $3 = lowest free incarnation. */
const statement = defineStatement({
  name: 'restart_run',
  text: /* sql */ `
with restarted as (
  update automation_runs set incarnation = greatest(incarnation + 1, $3), claimed_by = null
  where run_id = $1 and incarnation = $2 and finished_at is null
  returning run_id, team_id, creator_id, incarnation, correlation_id
)
insert into outbox (kind, subject, team_id, actor_id, payload, correlation_id)
select 'run.start', run_id::text, team_id, creator_id, jsonb_build_object('run_id', run_id, 'incarnation', incarnation), correlation_id
from restarted
returning outbox_id`,
});

/**
 * Restarts an open run from its row under the next incarnation. The compare-and-set on the incarnation lets only one caller win,
 * and the old execution can no longer claim the run. Completed steps stay completed.
 * @param lowest an incarnation that no execution has had yet
 * @returns false if the run has ended or was already restarted
 */
export async function restartRun(
  db: Knex,
  { run_id, incarnation }: { run_id: string; incarnation: number },
  lowest = 0,
): Promise<boolean> {
  return (await run(db, statement, [run_id, incarnation, lowest])).length > 0;
}
