import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import type { ActionResult } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { forbidden } from '../../core/errors.js';
import { ActionRefused } from '../actions/action-refused.js';
import type { Effect } from '../actions/action-type.js';
import { actionTypes } from '../actions/registry.js';
import { failStep } from './action-failure.js';
import type { Carrier } from './claim-run.js';
import { inStep } from './in-step.js';
import { creatorContext } from './load-run.js';
import { readParams } from './read-params.js';
import { recordRehearsal, takeBack } from './rehearse.js';

/** How what an action made is found; $4 is its id, as text. */
const ENTITIES: Record<Effect['entity_type'], string> = {
  task: 'tasks where task_id = $4::text',
  comment: 'comments where comment_id = ($4::text)::uuid',
  member: 'memberships where user_id = ($4::text)::uuid',
};

/**
 * $1 run, $2 index, $3 and $4 the entity, $5 output (jsonb), $6 the run's team or null. The effect's key can be taken once (R4).
 * Says whether the entity is of that team.
 */
const endStatements = Object.fromEntries(
  Object.entries(ENTITIES).map(([type, entity]) => [
    type,
    {
      name: `end_action_on_${type}`,
      text: /* sql */ `
with effect as (
  insert into effects (run_id, action_index, entity_type, entity_id) values ($1, $2, $3, $4::text)
), done as (
  update run_actions set status = 'succeeded', error = null, finished_at = now(), output = $5::jsonb where run_id = $1 and index = $2
)
select $6::uuid is null or exists (select from ${entity} and team_id = $6) as is_inside`,
    },
  ]),
) as Record<Effect['entity_type'], Statement>;

/**
 * Performs one action and marks it done: the effect, its key and the mark are one transaction, so they happen once (R4). What a
 * team's automation does stays in that team: it acts with its creator's rights, who may sit in other teams too, while every
 * manager of this one may change what it does, and an event may say on what.
 * @throws ActionRefused, or what the verb throws; the transaction is then taken back
 */
const act = (services: Services, carrier: Carrier, index: number): Promise<ActionResult> =>
  inStep(services, carrier, index, async (db, begun, step) => {
    const type = actionTypes[step.type];
    if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `There is no action ${step.type}` });
    const params = readParams(type, begun, index);
    const perform = async (db: Knex): Promise<void> => {
      const effect = await type.perform(creatorContext({ ...services, db }, begun, begun.creator), params, begun);
      const { entity_type, entity_id, output } = effect;
      const values = [begun.run_id, index, entity_type, entity_id, JSON.stringify(output), begun.team_id];
      const [ended] = await run<{ is_inside: boolean }>(db, endStatements[entity_type], values);
      if (!ended?.is_inside) throw forbidden('A team’s automation acts in that team only');
    };
    if (begun.is_test) {
      await takeBack(db, perform);
      await recordRehearsal(db, begun, index, type.label, params);
    } else await perform(db);
    return { status: 'succeeded', error: null };
  });

/**
 * One action of a run, at least once asked, at most once done; the last one ends the run in the same transaction. A refusal is
 * recorded as the action's failure and never hidden by what follows (contract, section 3); only an unreachable database is thrown,
 * for the workflow to try again.
 */
export async function performAction(services: Services, carrier: Carrier, index: number): Promise<ActionResult> {
  const result = await act(services, carrier, index).catch((thrown: unknown) => failStep(services, carrier, index, thrown));
  services.ring();
  return result;
}
