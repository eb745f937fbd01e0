import type { Knex } from 'knex';
import { RunAction } from '../../../../db/models/automation/run-action.js';
import { run } from '../../../../db/statement.js';
import type { ActionOutcome, ActionResult, Wait } from '../../../../workflows/contracts/run-contract.js';
import type { Services } from '../../../platform/context.js';
import type { Effect } from '../../../gate/contract/action-type.js';
import { type ActionRow } from '../record/rules.js';
import { isSent } from '../../actions/registry.js';
import { DELAY } from '../../actions/rules.js';
import { endIfDeleted } from './end-if-deleted.js';
import { type RunExecution, claimValues, findTerminalStatus } from './claim-run.js';
import type { Creator, RunRow } from './load-run.js';
import { markDone } from './mark-done.js';
import { restartRun } from './restart-run.js';
import { settleRun } from './settle-run.js';
import { beginActionStatement } from './with-step.sql.js';

/** The fields of a step that decide its execution and the run's end. */
export interface Step extends ActionRow {
  on_failure: 'continue' | 'stop';
  /** Attempts before this one. */
  attempts: number;
  due_at: string | null;
  /** Milliseconds until it may continue, by the database's clock; 0 if due. */
  ms_left: number;
}

/**
 * Part of a step that one transaction does. An outbound request has a start before it and a rest after it; in between, the
 * automation may have been deleted.
 */
type Part = 'whole' | 'start' | 'rest';

/**
 * Outcome of a step; `wait` if it is not done. `effect`: an effect still to be marked. `on_failure`: wins over the step's own. `restarted`: the run
 * begins again from its rows, in another execution.
 */
export type StepOutcome = Pick<Step, 'status' | 'error'> & {
  wait?: Wait;
  effect?: Effect;
  on_failure?: 'stop';
  restarted?: true;
};

/** The last gate before a step, if a change of a target after the approval opens it again. */
export interface AskingGate {
  gate_index: number;
  /** How often that has happened. */
  reopened: number;
  /** Versions of the targets that a change is compared with, by id; null before an older version of the service gave the yes. */
  known_versions: Readonly<Record<string, number>> | null;
}

/** The run with its version's actions, the locked step, all steps, and the creator. */
export interface ActiveStep extends RunRow, Record<string, unknown> {
  step: Step | null;
  steps: Step[];
  creator: Creator;
  gate: AskingGate | null;
}

const toOutcome = ({ status, on_failure: onFailure }: Pick<Step, 'status' | 'on_failure'>): ActionOutcome =>
  status === 'failed' ? (onFailure === 'stop' ? 'stop' : 'failed') : status === 'succeeded' ? 'succeeded' : 'skipped';
/** Converts a finished step for the workflow: a failure by its code only, never its message. */
const toActionResult = (step: Pick<Step, 'status' | 'on_failure' | 'error'>): Pick<ActionResult, 'outcome' | 'code'> => ({
  outcome: toOutcome(step),
  ...(step.status === 'failed' && step.error ? { code: step.error.code } : {}),
});

/** Attempts of an outbound request by default; an automation may set one to five. */
const DEFAULT_ATTEMPTS = 3;
/**
 * Returns the maximum attempts of an action. A local action runs once unless the automation asks for more: our own database would
 * refuse it again (docs/decisions/automation.md#attempts).
 */
export function maxAttempts({ actions }: RunRow, index: number): number {
  const { type, retry } = actions[index] as { type: string; retry?: { max_attempts: number } };
  return retry?.max_attempts ?? (isSent(type) ? DEFAULT_ATTEMPTS : 1);
}

/** Returns the remaining wait of a step that is not due yet, or undefined. */
function computeWait(begun: ActiveStep, { index, type, due_at, ms_left: msLeft, attempts }: Step): Wait | undefined {
  if (due_at === null || msLeft <= 0) return undefined;
  const until = new Date(due_at).toISOString();
  return type === DELAY ? { msLeft, until } : { msLeft, until, attempt: { next: attempts + 1, of: maxAttempts(begun, index) } };
}

const isDone = ({ status }: Step): boolean => status === 'succeeded' || status === 'failed' || status === 'skipped';

/**
 * Runs one step in one transaction: claims the run, lets `work` decide the outcome, marks the step, and ends the run if no step
 * is left or this one stops it. A repeated call after a lost response only returns the outcome. A whole step counts as one
 * attempt; a step in parts counts its attempt in the first part.
 */
export async function withStep(
  services: Services,
  owner: RunExecution,
  index: number,
  work: (db: Knex, begun: ActiveStep, step: Step) => Promise<StepOutcome>,
  part: Part = 'whole',
): Promise<ActionResult> {
  return services.db.transaction(async (db) => {
    const [begun] = await run<ActiveStep>(db, beginActionStatement, [...claimValues(owner), index, part === 'whole']);
    if (!begun) return toResult(db, owner, index);
    const step = begun.step;
    if (!step) return { outcome: 'stop' };
    if (begun.steps.some((each) => each.index < index && !isDone(each))) return restartBehind(db, begun);
    if (isDone(step)) return toActionResult(step);
    const remaining = computeWait(begun, step);
    if (remaining) return { outcome: 'waiting', wait: remaining };
    const isOver = async () => (await endIfDeleted({ ...services, db }, begun)) !== undefined;
    if (part === 'start' && (await isOver())) return toResult(db, owner, index);
    const { wait, effect, restarted, ...end } = await work(db, begun, step);
    if (restarted) return { outcome: 'skipped', ended: null };
    if (wait) return (await isOver()) ? toResult(db, owner, index) : { outcome: 'waiting', wait };
    const done = { ...step, ...end };
    const result = toActionResult(done);
    const steps = begun.steps.map((each) => (each.index === index ? done : each));
    if (result.outcome === 'stop' || steps.every(isDone)) {
      const last = effect && { index, effect };
      return { ...result, ended: await settleRun({ ...services, db }, begun, steps, { last }) };
    }
    if (effect) await markDone(db, begun, index, effect);
    return part === 'rest' && (await isOver()) ? toResult(db, owner, index) : result;
  });
}

/**
 * Handles an execution that asks for a step whose predecessors are not done: the rows were restored from an older backup. The
 * rows win: the run restarts from them under the next incarnation.
 */
async function restartBehind(db: Knex, begun: ActiveStep): Promise<ActionResult> {
  await restartRun(db, begun);
  return { outcome: 'skipped', ended: null };
}

/** Returns the outcome of a step whose run has ended or belongs to another execution. */
async function toResult(db: Knex, owner: RunExecution, index: number): Promise<ActionResult> {
  const step = await RunAction.query(db).findById([owner.runId, index]).select('status', 'on_failure', 'error');
  return { ...(step ? toActionResult(step) : { outcome: 'skipped' }), ended: await findTerminalStatus(db, owner) };
}
