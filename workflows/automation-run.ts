import {
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  defineSignal,
  allHandlersFinished,
  workflowInfo,
} from '@temporalio/workflow';
import { truncateText, GATE, LOCAL_ACTIONS } from '../api/runs/rules.js';
import {
  type ActionActivity,
  type ActionResult,
  type AutomationRunInput,
  DECIDED_SIGNAL,
  type GateView,
  OUTBOUND_HEARTBEAT,
  outboundQueue,
  type RunActivities,
  type RunRef,
  type RunResult,
  type RunStep,
  type Wait,
} from './contract.js';
import { RunDetails } from './run-details.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { upsertAttributes } from './upsert-attributes.js';
import { showDetails } from './show-details.js';

/**
 * Short writes to the database, so local activities. They are retried until they get through: what the caller may never have is
 * recorded by the activity itself as a failed action, so an error here means that PostgreSQL is away.
 */
const OPTIONS = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const withSummary = (summary: string) => proxyLocalActivities<RunActivities>({ ...OPTIONS, summary });
const { openGate } = withSummary('Asks for the approval');
const { readGate } = withSummary('Reads what was decided');
const { finishRun } = withSummary('Ends the run');
/** A name in the history, which keeps it with every event that bears it. */
const short = (label: string): string => truncateText(label, 60);
/** What the action is called in the history beside its type; nothing where it has no name of its own. */
const called = ({ label, type }: RunStep): { summary?: string } => (label === type ? {} : { summary: short(label) });
/** One activity an action type, under the type's own name, so that a history reads like the automation. */
const local = (step: RunStep) => proxyLocalActivities<Record<string, ActionActivity>>({ ...OPTIONS, ...called(step) });
/** What calls other servers: slow ones hold up nobody else there. */
const outbound = (step: RunStep) =>
  proxyActivities<Record<string, ActionActivity>>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    ...called(step),
    // Fifteen seconds for an answer, and the database before and after it.
    startToCloseTimeout: '45 seconds',
    heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs,
    // The activity counts its attempts and says when the next is due, as the run's row does: an error here means that the worker died,
    // or that PostgreSQL is away.
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  });

const decided = defineSignal<[gateIndex?: number]>(DECIDED_SIGNAL);

const refOf = ({ runId, incarnation }: AutomationRunInput): RunRef => ({ runId, incarnation });
const perform = (step: RunStep): ActionActivity =>
  (LOCAL_ACTIONS.includes(step.type) ? local(step) : outbound(step))[step.type] as ActionActivity;

/** What the timer at a gate is called in the history. */
function timerSummary({ state, reminds, requiredRole }: GateView): string {
  if (state !== 'pending') return 'Lapsed gate is cleaned up';
  return reminds ? `Reminder to ${requiredRole}` : `Approval by ${requiredRole} expires`;
}

/** Waits at a gate. The row decides; a signal and the timers only wake. True when the tail may go on. */
async function passGate(input: AutomationRunInput, step: RunStep, story: RunDetails, wakes: () => number): Promise<boolean> {
  let seen = wakes(); // taken before the row is read: no wake is lost
  let view = await openGate(refOf(input), step.index);
  while (view.state === 'pending' || view.state === 'lapsed') {
    const waited = seen;
    upsertAttributes(
      input,
      { key: SEARCH_ATTRIBUTES.RunState, value: 'paused' },
      { key: SEARCH_ATTRIBUTES.GateState, value: view.state },
      { key: SEARCH_ATTRIBUTES.GateExpiresAt, value: new Date(view.expiresAt) },
    );
    story.waiting(step, view);
    showDetails(story.text());
    const summary = timerSummary(view);
    await condition(() => wakes() > waited, Math.max(view.msLeft, 1), { summary });
    seen = wakes();
    view = await readGate(input.runId, step.index);
  }
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: null },
    { key: SEARCH_ATTRIBUTES.GateState, value: view.state },
  );
  story.decided(step, view);
  return view.state === 'approved';
}

/** Does one action; a delay, or one that is to be tried again, is waited for. A wake, such as a cancellation, asks the rows again. */
async function act(input: AutomationRunInput, step: RunStep, story: RunDetails, wakes: () => number): Promise<ActionResult> {
  let seen = wakes(); // taken before the row is read: no wake is lost
  let result = await perform(step)(refOf(input), step.index);
  for (let waits = 0; result.wait; waits += 1) {
    const waited = seen;
    const { wait } = result;
    if (waits === 0) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'waiting' });
    upsertAttributes(
      input,
      { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: new Date(wait.until) },
      { key: SEARCH_ATTRIBUTES.Attempt, value: wait.attempt?.next ?? 1 },
    );
    story.pausing(step, wait);
    showDetails(story.text());
    await condition(() => wakes() > waited, Math.max(wait.msLeft, 1), { summary: summaryOf(step, wait) });
    seen = wakes();
    result = await perform(step)(refOf(input), step.index);
    if (!result.wait) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: null });
  }
  return result;
}

/** What the timer is called in the history. */
const summaryOf = ({ label }: RunStep, { until, attempt }: Wait): string =>
  attempt ? `Try ${attempt.next} of ${attempt.of}: ${short(label)}` : `Wait until ${until}`;

/** Returns how the run ended when an action ended it: the last one does so in its own transaction, and so does one that stops. */
async function walk(input: AutomationRunInput, story: RunDetails, wakes: () => number): Promise<string | null | undefined> {
  for (const step of input.plan.steps) {
    if (step.type === GATE) {
      if (!(await passGate(input, step, story, wakes))) return undefined;
      continue;
    }
    const { outcome, code, ended } = await act(input, step, story, wakes);
    story.acted(step, outcome, code);
    if (ended !== undefined) return ended;
    showDetails(story.text());
    if (outcome === 'stop') return undefined;
  }
  return undefined;
}

const SUPERSEDED: RunResult = {
  status: 'superseded',
  step: null,
  message: 'The run has ended, or another execution owns it',
};

/**
 * Walks one automation run to its end: order and waiting only. PostgreSQL holds the run, its actions and its gates and decides
 * all; this workflow carries ids, and the names that an operator reads. Ends normally also when the run failed: red in the UI
 * means a fault of ours.
 */
export async function automationRun(input: AutomationRunInput): Promise<RunResult> {
  let count = 0;
  setHandler(decided, () => {
    count += 1;
  });
  const story = new RunDetails(input.plan);
  showDetails(story.text());
  let ended: string | null | undefined;
  let cancelled = false;
  try {
    ended = await walk(input, story, () => count);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    cancelled = true;
  }
  // An operator's cancel must not keep the run's end from being written.
  if (ended === undefined) ended = await CancellationScope.nonCancellable(() => finishRun(refOf(input), cancelled));
  if (ended === null) return SUPERSEDED;
  if (ended !== 'succeeded') upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: ended });
  story.ended(ended);
  showDetails(story.text());
  await condition(allHandlersFinished);
  return story.result(ended);
}
