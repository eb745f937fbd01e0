import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import type { ActionResult } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { fromDatabaseError } from '../../core/database-errors.js';
import { DomainError, forbidden, invalid } from '../../core/errors.js';
import type { Effect } from '../actions/action-type.js';
import { rehearsed } from '../actions/rehearsed.js';
import { actionTypes, withDefaults } from '../actions/registry.js';
import { renderTemplates } from '../template.js';
import type { Carrier } from './claim-run.js';
import { inStep } from './in-step.js';
import { creatorContext, type RunRow } from './load-run.js';

/** How what an action made is found; $4 is its id, as text. */
const ENTITIES: Record<Effect['entity_type'], string> = {
  task: 'tasks where task_id = $4::text',
  comment: 'comments where comment_id = ($4::text)::uuid',
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
  update run_actions set status = 'succeeded', finished_at = now(), output = $5::jsonb where run_id = $1 and index = $2
)
select $6::uuid is null or exists (select from ${entity} and team_id = $6) as is_inside`,
    },
  ]),
) as Record<Effect['entity_type'], Statement>;

/** $1 run, $2 index, $3 error (jsonb). */
const failStatement: Statement = {
  name: 'fail_action',
  text: `update run_actions set status = 'failed', error = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
};

/** What a run's record says of a failed action; one line, no secret, nothing of our insides. */
interface ActionFailure {
  code: string;
  message: string;
}

/** $1 run, $2 index, $3 output (jsonb). */
const rehearsedStatement: Statement = {
  name: 'action_rehearsed',
  text: `update run_actions set status = 'succeeded', output = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
};

/** Ends a rehearsal: everything since its beginning is taken back. */
class TakenBack extends Error {}

/** Does the work and takes it back, so that whatever would refuse it refuses it here too. @throws what `work` throws */
async function rehearse(db: Knex, work: (db: Knex) => Promise<void>): Promise<void> {
  const played = db.transaction(async (inner) => {
    await work(inner);
    throw new TakenBack();
  });
  await played.catch((thrown: unknown) => {
    if (!(thrown instanceof TakenBack)) throw thrown;
  });
}

class ActionRefused extends Error {
  constructor(readonly failure: ActionFailure) {
    super(failure.message);
  }
}

/** The parameters of an action: defaults filled in, templates rendered against the event. @throws ActionRefused */
function paramsOf(run: RunRow, index: number): Record<string, unknown> {
  const action = run.actions[index] as { type: string; params?: Record<string, unknown> } & Record<string, unknown>;
  const { type, name: _name, params, on_failure: _onFailure, retry: _retry, ...flat } = action;
  const filled = withDefaults(type, params ?? flat, run.event, run);
  const rendered = renderTemplates(filled, run.event);
  if (rendered.ok) return rendered.value as Record<string, unknown>;
  if ('secretMissing' in rendered) {
    throw new ActionRefused({ code: 'secret_missing', message: `There is no secret named ${rendered.secretMissing}` });
  }
  if ('missing' in rendered)
    throw new ActionRefused({ code: 'template_missing', message: `The event has no ${rendered.missing}` });
  throw new ActionRefused({ code: rendered.code, message: rendered.message });
}

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
    const params = type.params.safeParse(paramsOf(begun, index));
    if (!params.success) {
      const [issue] = params.error.issues;
      throw invalid(`${issue?.path.join('.') ?? 'params'}: ${issue?.message ?? 'invalid'}`);
    }
    const perform = async (db: Knex): Promise<void> => {
      const effect = await type.perform(creatorContext({ ...services, db }, begun, begun.creator), params.data);
      const { entity_type, entity_id, output } = effect;
      const values = [begun.run_id, index, entity_type, entity_id, JSON.stringify(output), begun.team_id];
      const [ended] = await run<{ is_inside: boolean }>(db, endStatements[entity_type], values);
      if (!ended?.is_inside) throw forbidden('A team’s automation acts in that team only');
    };
    if (begun.is_test) {
      await rehearse(db, perform);
      await run(db, rehearsedStatement, [begun.run_id, index, JSON.stringify(rehearsed(type.label, params.data))]);
    } else await perform(db);
    return { status: 'succeeded', error: null };
  });

/** What to write down of a thrown error, or undefined when PostgreSQL is away and the action must be tried again. */
function failureOf(thrown: unknown): ActionFailure | undefined {
  if (thrown instanceof ActionRefused) return thrown.failure;
  const error = thrown instanceof DomainError ? thrown : fromDatabaseError(thrown);
  if (!error) return { code: 'internal_error', message: 'Something went wrong on our side' };
  if (error.status >= 500) return undefined;
  const reason = error.extra['reason'];
  return { code: typeof reason === 'string' ? reason : error.code.toLowerCase(), message: error.message };
}

/**
 * One action of a run, at least once asked, at most once done; the last one ends the run in the same transaction. A refusal is
 * recorded as the action's failure and never hidden by what follows (contract, section 3); only an unreachable database is thrown,
 * for the workflow to try again.
 */
export async function performAction(services: Services, carrier: Carrier, index: number): Promise<ActionResult> {
  const result = await act(services, carrier, index).catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    if (!failure) throw thrown;
    if (failure.code === 'internal_error') services.log.error({ err: thrown, run_id: carrier.runId, index }, 'action failed');
    return inStep(services, carrier, index, async (db, { run_id }) => {
      await run(db, failStatement, [run_id, index, JSON.stringify(failure)]);
      return { status: 'failed', error: failure };
    });
  });
  services.ring();
  return result;
}
