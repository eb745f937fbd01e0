import type { Knex } from 'knex';
import { inBatches } from '../../../../db/in-batches.js';
import { defineStatement, run } from '../../../../db/statement.js';

/** Days that what a model said is kept: a retried step needs it, and an operator who looks into a turn (docs/decisions/agent.md#steps-of-a-model). */
const LIFE_DAYS = 7;
const BATCH = 500;

const statement = defineStatement({
  name: 'delete_old_agent_steps',
  text: /* sql */ `
    with old as materialized (
      select message_id, step from agent_steps where created_at < now() - interval '${LIFE_DAYS} days'
      order by created_at limit ${BATCH} for update skip locked
    ), deleted as (
      delete from agent_steps where (message_id, step) in (select message_id, step from old) returning step
    ) select count(*)::int as steps from deleted`,
});

/** Deletes the steps of models after a week, in batches, each with its own commit. Safe to repeat. Returns their number. */
export function deleteOldSteps(db: Knex): Promise<number> {
  return inBatches(BATCH, async () => (await run<{ steps: number }>(db, statement, []))[0]?.steps ?? 0);
}
