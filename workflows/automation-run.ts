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
  type RunPlan,
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
const { claimRun, openGate, readGate, finishRun } = proxyLocalActivities<RunActivities>(OPTIONS);
/** One activity an action type, under the type's own name, so that a history reads like the automation. */
const actions = proxyLocalActivities<Record<string, ActionActivity>>(OPTIONS);

const decided = defineSignal<[gateIndex?: number]>(DECIDED_SIGNAL);

const perform = (type: string): ActionActivity => actions[type] as ActionActivity;

/** Waits at a gate. The row decides; a signal and the timers only wake. True when the tail may go on. */
async function passGate(input: AutomationRunInput, step: RunStep, story: RunStory, wakes: () => number): Promise<boolean> {
  let seen = wakes(); // taken before the row is read: no wake is lost
  let view = await openGate(input.runId, step.index);
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

async function walk(input: AutomationRunInput, plan: RunPlan, story: RunStory, wakes: () => number): Promise<void> {
  for (const step of plan.steps) {
    if (step.type === GATE) {
      if (!(await passGate(input, step, story, wakes))) return;
      continue;
    }
    const outcome = await perform(step.type)(input.runId, step.index);
    story.acted(step, outcome);
    setCurrentDetails(story.text());
    if (outcome === 'stop') return;
  }
}

/**
 * Walks one automation run to its end: order and waiting only. PostgreSQL holds the run, its actions and its gates and decides
 * all; this workflow carries ids. Ends normally also when the run failed: red in the UI means a fault of ours.
 */
export async function automationRun(input: AutomationRunInput): Promise<string> {
  let count = 0;
  setHandler(decided, () => {
    count += 1;
  });
  const plan = await claimRun(input);
  if (!plan) return 'nothing to do: the run has ended, or another execution carries it';
  const story = new RunStory(plan);
  setCurrentDetails(story.text());
  let cancelled = false;
  try {
    await walk(input, plan, story, () => count);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    cancelled = true;
  }
  // An operator's cancel must not keep the run's end from being written.
  const status = await CancellationScope.nonCancellable(() => finishRun(input.runId, cancelled));
  makeSearchable(input, { key: SEARCH_ATTRIBUTES.RunState, value: status });
  story.ended(status);
  setCurrentDetails(story.text());
  await condition(allHandlersFinished);
  return status;
}
