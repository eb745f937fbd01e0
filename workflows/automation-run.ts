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
import { truncateText } from '../api/automation/runs/record/rules.js';
import { GATE, LOCAL_BEFORE } from '../api/automation/actions/rules.js';
import { OUTBOUND_HEARTBEAT, outboundQueue } from './contracts/queues.js';
import {
  type ActionActivity,
  type ActionResult,
  type AutomationRunInput,
  DECIDED_SIGNAL,
  type GateView,
  type RunActivities,
  type RunRef,
  type RunResult,
  type RunStep,
  type Wait,
} from './contracts/run-contract.js';
import { RunDetails } from './run-details.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { upsertAttributes } from './upsert-attributes.js';
import { showDetails } from './show-details.js';

/**
 * Short database writes, therefore local activities, retried until they succeed. Permission errors become failed actions inside
 * the activity, so an error here means that PostgreSQL is unavailable.
 */
const OPTIONS = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const withSummary = (summary: string) => proxyLocalActivities<RunActivities>({ ...OPTIONS, summary });
const { openGate } = withSummary('Open gate');
const { readGate } = withSummary('Read gate');
const { finishRun } = withSummary('Finish run');
/** Truncates a name, because every event of the history that contains it stores it. */
const shortLabel = (label: string): string => truncateText(label, 60);
/** Returns the action's name for the history; none without a name of its own. */
const summaryOption = ({ label, type }: RunStep): { summary?: string } => (label === type ? {} : { summary: shortLabel(label) });
/** One activity per action type, named after it, so that a history reads like the automation. */
const local = (step: RunStep) => proxyLocalActivities<Record<string, ActionActivity>>({ ...OPTIONS, ...summaryOption(step) });
/** Activities that call other servers, on their own queue: slow ones delay nothing else. */
const outbound = (step: RunStep) =>
  proxyActivities<Record<string, ActionActivity>>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    ...summaryOption(step),
    // Fifteen seconds for a response, plus the database before and after.
    startToCloseTimeout: '45 seconds',
    heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs,
    // The activity counts its attempts and returns when the next is due, as in the run's row. So an error here means that the
    // worker died or that PostgreSQL is unavailable.
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  });

const decided = defineSignal<[gateIndex?: number]>(DECIDED_SIGNAL);

const buildRef = ({ runId, incarnation }: AutomationRunInput): RunRef => ({ runId, incarnation });
const isSent = ({ sends, type }: RunStep): boolean => sends ?? !LOCAL_BEFORE.includes(type);
const perform = (step: RunStep): ActionActivity => (isSent(step) ? outbound(step) : local(step))[step.type] as ActionActivity;

/** Name of a gate's timer in the history. */
function timerSummary({ state, reminds, requiredRole }: GateView): string {
  if (state !== 'pending') return 'Close expired gate';
  return reminds ? `Reminder to ${requiredRole}` : `Approval by ${requiredRole} expires`;
}

/** Waits at a gate. The row decides; a signal or a timer only wakes. Returns true if the staged actions may run. */
async function passGate(input: AutomationRunInput, step: RunStep, details: RunDetails, wakes: () => number): Promise<boolean> {
  let seen = wakes(); // read before the row, so that no wake is lost
  let view = await openGate(buildRef(input), step.index);
  if (view.skipped) {
    details.acted(step, 'skipped');
    return true;
  }
  while (view.state === 'pending' || view.state === 'lapsed') {
    const waited = seen;
    upsertAttributes(
      input,
      { key: SEARCH_ATTRIBUTES.RunState, value: 'paused' },
      { key: SEARCH_ATTRIBUTES.GateState, value: view.state },
      { key: SEARCH_ATTRIBUTES.GateExpiresAt, value: new Date(view.expiresAt) },
    );
    details.waiting(step, view);
    showDetails(details.text());
    const summary = timerSummary(view);
    await condition(() => wakes() > waited, Math.max(view.msLeft, 1), { summary });
    seen = wakes();
    view = await readGate(input.runId, step.index);
  }
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: null },
    { key: SEARCH_ATTRIBUTES.GateState, value: view.rejected ? 'rejected' : view.state },
  );
  details.decided(step, view);
  return view.state === 'approved';
}

/** Performs one action and waits through its delay or its backoff. A wake, such as a cancellation, reads the rows again. */
async function act(input: AutomationRunInput, step: RunStep, details: RunDetails, wakes: () => number): Promise<ActionResult> {
  let seen = wakes(); // read before the row, so that no wake is lost
  let result = await perform(step)(buildRef(input), step.index);
  for (let waits = 0; result.wait; waits += 1) {
    const waited = seen;
    const { wait } = result;
    if (waits === 0) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'waiting' });
    upsertAttributes(
      input,
      { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: new Date(wait.until) },
      { key: SEARCH_ATTRIBUTES.Attempt, value: wait.attempt?.next ?? 1 },
    );
    details.pausing(step, wait);
    showDetails(details.text());
    await condition(() => wakes() > waited, Math.max(wait.msLeft, 1), { summary: buildSummary(step, wait) });
    seen = wakes();
    result = await perform(step)(buildRef(input), step.index);
    if (!result.wait) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: null });
  }
  return result;
}

/** Name of a timer in the history. */
const buildSummary = ({ label }: RunStep, { until, attempt, forAnswer }: Wait): string =>
  forAnswer
    ? `Answer: ${shortLabel(label)}`
    : attempt
      ? `Attempt ${attempt.next} of ${attempt.of}: ${shortLabel(label)}`
      : `Wait until ${until}`;

/**
 * Runs the steps. Returns the final status if an action ended the run: the last one does so in its own transaction, and so does
 * one that stops it.
 */
async function runSteps(input: AutomationRunInput, details: RunDetails, wakes: () => number): Promise<string | null | undefined> {
  for (const step of input.plan.steps) {
    if (step.type === GATE) {
      if (!(await passGate(input, step, details, wakes))) return undefined;
      continue;
    }
    const { outcome, code, ended } = await act(input, step, details, wakes);
    details.acted(step, outcome, code);
    if (ended !== undefined) return ended;
    showDetails(details.text());
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
 * Orchestrates a run: order and waiting only. PostgreSQL stores the run, its actions and its gates, and decides everything; this
 * workflow carries ids, and names for operators. Completes normally even if the run failed: a failed workflow means a fault of
 * ours.
 */
export async function automationRun(input: AutomationRunInput): Promise<RunResult> {
  let count = 0;
  setHandler(decided, () => {
    count += 1;
  });
  const details = new RunDetails(input.plan);
  showDetails(details.text());
  let ended: string | null | undefined;
  let cancelled = false;
  try {
    ended = await runSteps(input, details, () => count);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    cancelled = true;
  }
  // The run's end is written even if an operator cancels the workflow.
  if (ended === undefined) ended = await CancellationScope.nonCancellable(() => finishRun(buildRef(input), cancelled));
  if (ended === null) return SUPERSEDED;
  if (ended !== 'succeeded' || input.showsEnd) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: ended });
  details.ended(ended);
  showDetails(details.text());
  await condition(allHandlersFinished);
  return details.result(ended);
}
