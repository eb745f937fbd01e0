import {
  CancellationScope,
  condition,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  defineSignal,
  allHandlersFinished,
} from '@temporalio/workflow';
import { GATE } from '../api/automations/rules.js';
import {
  type ActionActivity,
  type AutomationRunInput,
  DECIDED_SIGNAL,
  type RunActivities,
  type RunRef,
  type RunStep,
} from './contract.js';
import { RunStory } from './run-story.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { makeSearchable } from './make-searchable.js';

/**
 * Short writes to the database, so local activities. They are retried until they get through: what the caller may never have is
 * recorded by the activity itself as a failed action, so an error here means that PostgreSQL is away.
 */
const OPTIONS = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const { openGate, readGate, finishRun } = proxyLocalActivities<RunActivities>(OPTIONS);
/** One activity an action type, under the type's own name, so that a history reads like the automation. */
const actions = proxyLocalActivities<Record<string, ActionActivity>>(OPTIONS);

const decided = defineSignal<[gateIndex?: number]>(DECIDED_SIGNAL);

const refOf = ({ runId, incarnation }: AutomationRunInput): RunRef => ({ runId, incarnation });
const perform = (type: string): ActionActivity => actions[type] as ActionActivity;

/** Waits at a gate. The row decides; a signal and the timers only wake. True when the tail may go on. */
async function passGate(input: AutomationRunInput, step: RunStep, story: RunStory, wakes: () => number): Promise<boolean> {
  let seen = wakes(); // taken before the row is read: no wake is lost
  let view = await openGate(refOf(input), step.index);
  while (view.state === 'pending' || view.state === 'lapsed') {
    const waited = seen;
    makeSearchable(
      input,
      { key: SEARCH_ATTRIBUTES.RunState, value: 'paused' },
      { key: SEARCH_ATTRIBUTES.GateState, value: view.state },
      { key: SEARCH_ATTRIBUTES.GateExpiresAt, value: new Date(view.expiresAt) },
    );
    story.waiting(step, view);
    setCurrentDetails(story.text());
    const summary = view.state === 'pending' ? `Approval by ${view.requiredRole} expires` : 'Lapsed gate is cleaned up';
    await condition(() => wakes() > waited, Math.max(view.msLeft, 1), { summary });
    seen = wakes();
    view = await readGate(input.runId, step.index);
  }
  makeSearchable(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: 'running' },
    { key: SEARCH_ATTRIBUTES.GateState, value: view.state },
  );
  story.decided(step, view);
  return view.state === 'approved';
}

/** Returns how the run ended when an action ended it: the last one does so in its own transaction, and so does one that stops. */
async function walk(input: AutomationRunInput, story: RunStory, wakes: () => number): Promise<string | null | undefined> {
  for (const step of input.plan.steps) {
    if (step.type === GATE) {
      if (!(await passGate(input, step, story, wakes))) return undefined;
      continue;
    }
    const { outcome, ended } = await perform(step.type)(refOf(input), step.index);
    story.acted(step, outcome);
    if (ended !== undefined) return ended;
    setCurrentDetails(story.text());
    if (outcome === 'stop') return undefined;
  }
  return undefined;
}

/**
 * Walks one automation run to its end: order and waiting only. PostgreSQL holds the run, its actions and its gates and decides
 * all; this workflow carries ids, and the names that an operator reads. Ends normally also when the run failed: red in the UI
 * means a fault of ours.
 */
export async function automationRun(input: AutomationRunInput): Promise<string> {
  let count = 0;
  setHandler(decided, () => {
    count += 1;
  });
  const story = new RunStory(input.plan);
  setCurrentDetails(story.text());
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
  if (ended === null) return 'nothing to do: the run has ended, or another execution carries it';
  makeSearchable(input, { key: SEARCH_ATTRIBUTES.RunState, value: ended });
  story.ended(ended);
  setCurrentDetails(story.text());
  await condition(allHandlersFinished);
  return ended;
}
