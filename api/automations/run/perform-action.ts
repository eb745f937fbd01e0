import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import type { ActionOutcome } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { fromDatabaseError } from '../../core/database-errors.js';
import { DomainError, forbidden, invalid } from '../../core/errors.js';
import type { Effect } from '../actions/action-type.js';
import { actionTypes, withDefaults } from '../actions/registry.js';
import type { ActionStatus } from '../rules.js';
import { renderTemplates } from '../template.js';
import { type Creator, creatorContext, type RunRow } from './load-run.js';

/** The run with its version's actions, one of its steps, and its creator while the account is active. */
interface BegunAction extends RunRow, Record<string, unknown> {
  step: { type: string; on_failure: 'continue' | 'stop'; status: ActionStatus } | null;
  creator: Creator | null;
}

/**
 * $1 run, $2 index. Locks the run, then the step, and counts the attempt at a step that is still to be done: both rows are read as
 * they are once they are locked, whatever happened while this waited.
 */
const beginStatement: Statement = {
  name: 'begin_action',
  text: /* sql */ `
with run as (
  select r.*, v.actions from automation_runs r
  join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
  where r.run_id = $1 for update of r
), step as (
  select a.* from run_actions a join run using (run_id) where a.index = $2 for update of a
), begun as (
  update run_actions a set attempts = a.attempts + 1, started_at = coalesce(a.started_at, now())
  from run, step
  where a.run_id = run.run_id and a.index = step.index and run.finished_at is null
    and step.status not in ('succeeded', 'failed', 'skipped')
)
select run.*,
  (select json_build_object('type', type, 'on_failure', on_failure, 'status', status) from step) as step,
  (select json_build_object('email', u.email, 'role', u.role) from users u where u.user_id = run.creator_id and u.status = 'active') as creator
from run`,
};

/** $1 run, $2 index, $3 and $4 the entity, $5 output (jsonb). The effect's key can be taken once (R4). */
const endStatement: Statement = {
  name: 'end_action',
  text: /* sql */ `
with effect as (
  insert into effects (run_id, action_index, entity_type, entity_id) values ($1, $2, $3, $4)
)
update run_actions set status = 'succeeded', finished_at = now(), output = $5::jsonb where run_id = $1 and index = $2`,
};

/** What a run's record says of a failed action; one line, no secret, nothing of our insides. */
interface ActionFailure {
  code: string;
  message: string;
}

const outcomeOf = (status: ActionStatus, onFailure: 'continue' | 'stop'): ActionOutcome =>
  status === 'failed' ? (onFailure === 'stop' ? 'stop' : 'failed') : status === 'succeeded' ? 'succeeded' : 'skipped';

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

/** Whether an entity is of a team. $1 its id, $2 the team. */
const IN_TEAM: Record<Effect['entity_type'], Statement> = {
  task: { name: 'task_in_team', text: 'select from tasks where task_id = $1 and team_id = $2' },
  comment: { name: 'comment_in_team', text: 'select from comments where comment_id = $1 and team_id = $2' },
};

/**
 * What a team's automation does stays in that team. It acts with its creator's rights, who may sit in other teams too, while
 * every manager of this one may change what it does, and an event may say on what.
 * @throws PERMISSION_DENIED, which takes the effect back
 */
async function checkTeam(db: Knex, { team_id }: RunRow, { entity_type, entity_id }: Effect): Promise<void> {
  if (team_id === null) return;
  const found = await run(db, IN_TEAM[entity_type], [entity_id, team_id]);
  if (found.length === 0) throw forbidden('A team’s automation acts in that team only');
}

/** Performs one action and marks it done: the effect, its key and the mark are one transaction, so they happen once (R4). */
async function act(services: Services, runId: string, index: number): Promise<ActionOutcome> {
  return services.db.transaction(async (db) => {
    const [begun] = await run<BegunAction>(db, beginStatement, [runId, index]);
    const step = begun?.step;
    if (!step || begun.finished_at) return 'stop';
    if (step.status === 'succeeded' || step.status === 'failed' || step.status === 'skipped')
      return outcomeOf(step.status, step.on_failure);
    const type = actionTypes[step.type];
    if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `There is no action ${step.type}` });
    const params = type.params.safeParse(paramsOf(begun, index));
    if (!params.success) {
      const [issue] = params.error.issues;
      throw invalid(`${issue?.path.join('.') ?? 'params'}: ${issue?.message ?? 'invalid'}`);
    }
    const effect = await type.perform(creatorContext({ ...services, db }, begun, begun.creator), params.data);
    await checkTeam(db, begun, effect);
    await run(db, endStatement, [runId, index, effect.entity_type, effect.entity_id, JSON.stringify(effect.output)]);
    return 'succeeded';
  });
}

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
 * One action of a run, at least once asked, at most once done. A refusal is recorded as the action's failure and never hidden
 * by what follows (contract, section 3); only an unreachable database is thrown, for the workflow to try again.
 */
export async function performAction(services: Services, runId: string, index: number): Promise<ActionOutcome> {
  try {
    const outcome = await act(services, runId, index);
    services.ring();
    return outcome;
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (!failure) throw thrown;
    if (failure.code === 'internal_error') services.log.error({ err: thrown, run_id: runId, index }, 'action failed');
    const [action] = await services
      .db('run_actions')
      .where({ run_id: runId, index })
      .whereNotIn('status', ['succeeded', 'skipped'])
      .update({
        status: 'failed',
        error: JSON.stringify(failure),
        attempts: services.db.raw('attempts + 1'),
        started_at: services.db.raw('coalesce(started_at, now())'),
        finished_at: services.db.fn.now(),
      })
      .returning<{ on_failure: 'continue' | 'stop' }[]>('on_failure');
    return action?.on_failure === 'stop' ? 'stop' : 'failed';
  }
}
