import type { Knex } from 'knex';
import { run, type Statement } from '../../../db/statement.js';
import type { ActionOutcome, ActionResult, Wait } from '../../../workflows/contract.js';
import type { Services } from '../../core/context.js';
import type { Effect } from '../../actions/action-type.js';
import { type ActionRow, DELAY, LOCAL_ACTIONS } from '../rules.js';
import { endIfDeleted } from './end-if-deleted.js';
import { type RunExecution, CLAIM, claimValues, terminalStatusOf } from './claim-run.js';
import type { Creator, RunRow } from './load-run.js';
import { markDone } from './mark-done.js';
import { restartRun } from './restart-run.js';
import { settleRun } from './settle-run.js';

/** A step of the run, as far as its performing and the run's end are judged by it. */
export interface Step extends ActionRow {
  on_failure: 'continue' | 'stop';
  /** Before this one. */
  attempts: number;
  due_at: string | null;
  /** Until it may go on, by the database's clock; 0 when nothing keeps it. */
  ms_left: number;
}

/**
 * How much of a step one transaction does: all of it, or of a request first what comes before it and then, when the answer is there, the
 * rest. What time brought in between is looked at: the automation may be deleted.
 */
type Part = 'whole' | 'start' | 'rest';

/** What became of a step; one that is not done says when it goes on. `effect`: what is still to be marked as its doing. */
export type StepOutcome = Pick<Step, 'status' | 'error'> & { wait?: Wait; effect?: Effect };

/** The run with its version's actions, the step as it is now that it is held, all steps, and the creator. */
export interface ActiveStep extends RunRow, Record<string, unknown> {
  step: Step | null;
  steps: Step[];
  creator: Creator;
}

const STEP_JSON = (a: string) =>
  `json_build_object('index', ${a}.index, 'type', ${a}.type, 'on_failure', ${a}.on_failure, 'status', ${a}.status, 'error', ${a}.error,
    'attempts', ${a}.attempts, 'due_at', ${a}.due_at, 'ms_left', greatest(0, coalesce(ceil(extract(epoch from ${a}.due_at - now()) * 1000), 0)))`;

/**
 * $4 index, $5 whether this is an attempt of its own. Takes the run, then the step, and counts the attempt at a step that is still
 * to be done: both rows are read as they are once they are held, whatever happened while this waited. The other steps change under the run's lock only, and none of
 * them while this execution is at this one. The creator's seat is read, not held: a verb locks its task, then the seat, as whoever takes
 * the seat does, and holding it here would turn that order round.
 */
const beginStatement: Statement = {
  name: 'begin_action',
  text: /* sql */ `
with ${CLAIM}, step as (
  select a.* from run_actions a join run using (run_id) where a.index = $4 for update of a
), begun as (
  update run_actions a set attempts = a.attempts + $5::boolean::int, started_at = coalesce(a.started_at, now())
  from step where a.run_id = step.run_id and a.index = step.index and step.status not in ('succeeded', 'failed', 'skipped')
    and (step.due_at is null or step.due_at <= now())
)
select run.*, v.actions,
  (select ${STEP_JSON('step')} from step) as step,
  (select json_agg(${STEP_JSON('a')} order by a.index) from run_actions a where a.run_id = run.run_id) as steps,
  (select json_build_object('email', u.email, 'role', u.role, 'is_active', u.status = 'active', 'seat', m.role)
    from users u left join memberships m on m.team_id = run.team_id and m.user_id = u.user_id where u.user_id = run.creator_id) as creator
from run join automation_versions v on v.automation_id = run.automation_id and v.version = run.automation_version`,
};

const outcomeOf = ({ status, on_failure: onFailure }: Pick<Step, 'status' | 'on_failure'>): ActionOutcome =>
  status === 'failed' ? (onFailure === 'stop' ? 'stop' : 'failed') : status === 'succeeded' ? 'succeeded' : 'skipped';
/** What the workflow is told of a step that is over: a code of ours says why it failed, no words. */
const toActionResult = (step: Pick<Step, 'status' | 'on_failure' | 'error'>): Pick<ActionResult, 'outcome' | 'code'> => ({
  outcome: outcomeOf(step),
  ...(step.status === 'failed' && step.error ? { code: step.error.code } : {}),
});

/** Tries of a request whose action does not say how many (F5: one to five). */
const REQUEST_TRIES = 3;
/** How often an action is tried that fails (F5). What our own database refuses is not asked again unless the action says so. */
export function maxAttempts({ actions }: RunRow, index: number): number {
  const { type, retry } = actions[index] as { type: string; retry?: { max_attempts: number } };
  return retry?.max_attempts ?? (LOCAL_ACTIONS.includes(type) ? 1 : REQUEST_TRIES);
}

/** What a step still waits for that was asked for before its time; undefined when nothing keeps it. */
function waitOf(begun: ActiveStep, { index, type, due_at, ms_left: msLeft, attempts }: Step): Wait | undefined {
  if (due_at === null || msLeft <= 0) return undefined;
  const until = new Date(due_at).toISOString();
  return type === DELAY ? { msLeft, until } : { msLeft, until, attempt: { next: attempts + 1, of: maxAttempts(begun, index) } };
}

const isDone = ({ status }: Step): boolean => status === 'succeeded' || status === 'failed' || status === 'skipped';

/**
 * One step of a run in one transaction: takes the run, lets `work` do what becomes of the step, marks it, and ends the run when
 * nothing is left to do or the step stops it. Asked again after a lost answer it only says what became of it. A whole step is an
 * attempt of its own; who does it in parts counts the attempt in the first.
 */
export async function withStep(
  services: Services,
  carrier: RunExecution,
  index: number,
  work: (db: Knex, begun: ActiveStep, step: Step) => Promise<StepOutcome>,
  part: Part = 'whole',
): Promise<ActionResult> {
  return services.db.transaction(async (db) => {
    const [begun] = await run<ActiveStep>(db, beginStatement, [...claimValues(carrier), index, part === 'whole']);
    if (!begun) return resultOf(db, carrier, index);
    const step = begun.step;
    if (!step) return { outcome: 'stop' };
    if (begun.steps.some((each) => each.index < index && !isDone(each))) return restartBehind(db, begun);
    if (isDone(step)) return toActionResult(step);
    const kept = waitOf(begun, step);
    if (kept) return { outcome: 'waiting', wait: kept };
    const isOver = async () => (await endIfDeleted({ ...services, db }, begun)) !== undefined;
    if (part === 'start' && (await isOver())) return resultOf(db, carrier, index);
    const { wait, effect, ...end } = await work(db, begun, step);
    if (wait) return (await isOver()) ? resultOf(db, carrier, index) : { outcome: 'waiting', wait };
    const done = { ...step, ...end };
    const told = toActionResult(done);
    const steps = begun.steps.map((each) => (each.index === index ? done : each));
    if (told.outcome === 'stop' || steps.every(isDone)) {
      const last = effect && { index, effect };
      return { ...told, ended: await settleRun({ ...services, db }, begun, steps, { last }) };
    }
    if (effect) await markDone(db, begun, index, effect);
    return part === 'rest' && (await isOver()) ? resultOf(db, carrier, index) : told;
  });
}

/**
 * The execution asks for a step whose predecessors are not done: it knows a later state than the rows, which were restored from an older
 * backup. The rows win: the run goes on from them, under the next incarnation.
 */
async function restartBehind(db: Knex, begun: ActiveStep): Promise<ActionResult> {
  await restartRun(db, begun);
  return { outcome: 'skipped', ended: null };
}

/** What became of a step of a run that has ended, or is not in this execution's hands. */
async function resultOf(db: Knex, carrier: RunExecution, index: number): Promise<ActionResult> {
  const step = await db('run_actions')
    .where({ run_id: carrier.runId, index })
    .first<Step | undefined>('status', 'on_failure', 'error');
  return { ...(step ? toActionResult(step) : { outcome: 'skipped' }), ended: await terminalStatusOf(db, carrier) };
}
