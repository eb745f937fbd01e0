import type { Knex } from 'knex';
import type { ActionOutcome } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import { fromDatabaseError } from '../../core/database-errors.js';
import { DomainError, forbidden, invalid } from '../../core/errors.js';
import type { Effect } from '../actions/action-type.js';
import { actionTypes, withDefaults } from '../actions/registry.js';
import type { ActionStatus } from '../rules.js';
import { renderTemplates } from '../template.js';
import { creatorContext, lockRun, type RunRow } from './load-run.js';

interface ActionRow {
  type: string;
  on_failure: 'continue' | 'stop';
  status: ActionStatus;
}

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

/** Where the entity of an effect is kept, and by which key. */
const KEPT_IN = { task: ['tasks', 'task_id'], comment: ['comments', 'comment_id'] } as const;

/**
 * What a team's automation does stays in that team. It acts with its creator's rights, who may sit in other teams too, while
 * every manager of this one may change what it does, and an event may say on what.
 * @throws PERMISSION_DENIED, which takes the effect back
 */
async function checkTeam(db: Knex, { team_id }: RunRow, { entity_type, entity_id }: Effect): Promise<void> {
  if (team_id === null) return;
  const [table, key] = KEPT_IN[entity_type];
  const inTeam = await db(table)
    .where({ [key]: entity_id, team_id })
    .first<object | undefined>(key);
  if (!inTeam) throw forbidden('A team’s automation acts in that team only');
}

/** Performs one action and marks it done: the effect, its key and the mark are one transaction, so they happen once (R4). */
async function act(services: Services, runId: string, index: number): Promise<ActionOutcome> {
  return services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    const action = await db('run_actions').where({ run_id: runId, index }).forUpdate().first<ActionRow | undefined>();
    if (!run || run.finished_at || !action) return 'stop';
    if (action.status === 'succeeded' || action.status === 'failed' || action.status === 'skipped')
      return outcomeOf(action.status, action.on_failure);
    await db('run_actions')
      .where({ run_id: runId, index })
      .update({ attempts: db.raw('attempts + 1'), started_at: db.raw('coalesce(started_at, now())') });
    const type = actionTypes[action.type];
    if (!type) throw new ActionRefused({ code: 'action_unavailable', message: `There is no action ${action.type}` });
    const params = type.params.safeParse(paramsOf(run, index));
    if (!params.success) {
      const [issue] = params.error.issues;
      throw invalid(`${issue?.path.join('.') ?? 'params'}: ${issue?.message ?? 'invalid'}`);
    }
    const ctx = await creatorContext({ ...services, db }, run);
    const effect = await type.perform(ctx, params.data);
    await checkTeam(db, run, effect);
    const { entity_type, entity_id, output } = effect;
    await db('effects').insert({ run_id: runId, action_index: index, entity_type, entity_id });
    const done = { status: 'succeeded', finished_at: db.fn.now(), output: JSON.stringify(output) };
    await db('run_actions').where({ run_id: runId, index }).update(done);
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
