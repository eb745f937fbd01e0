import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { OUTBOUND_HEARTBEAT, outboundQueue } from './contracts/queues.js';
import {
  type AgentTurnInput,
  type ModelStepResult,
  TURN_ENDS,
  TURN_MAX_STEPS,
  TURN_SECONDS,
  TURN_SIGNALS,
  type TurnActivities,
  type TurnEnd,
  type TurnRef,
  type TurnView,
} from './contracts/turn-contract.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

/** Short database work, retried until PostgreSQL answers; what fails otherwise ends the turn. */
const OPTIONS = {
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
} as const;
const { answerByRules, beginTurn } = proxyLocalActivities<TurnActivities>({
  ...OPTIONS,
  scheduleToCloseTimeout: '10 minutes',
  summary: 'Begin the answer',
});
const { finishTurn } = proxyLocalActivities<TurnActivities>({ ...OPTIONS, summary: 'Store the answer' });

/** One call of the model, on the queue of slow requests. The activity settles what it costs, so a retry is a call that the step has not stored. */
const askModel = (step: number) =>
  proxyActivities<TurnActivities>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    summary: `Model call ${step + 1} of ${TURN_MAX_STEPS}`,
    startToCloseTimeout: '50 seconds',
    scheduleToCloseTimeout: '150 seconds',
    heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs,
    retry: { initialInterval: '1 second', maximumInterval: '20 seconds', maximumAttempts: 3 },
  }).modelStep;

const wake = defineSignal(TURN_SIGNALS.wake);
const stop = defineSignal(TURN_SIGNALS.stop);

/** Returns the code of a failure: its type if it is one of ours, never its words. */
function classifyEnd(error: unknown): TurnEnd {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return TURN_ENDS.find((end) => end === cause.type) ?? 'internal';
  return 'model_unreachable';
}

/** Lines for operators: calls, tokens and codes only. */
class TurnDetails {
  private readonly calls: string[] = [];

  asked({ said, inputTokens, outputTokens }: ModelStepResult): void {
    const number = this.calls.length + 1;
    this.calls.push(`${number}. Model call: ${said}, ${inputTokens} tokens in, ${outputTokens} out`);
  }

  show(headline: string): void {
    showDetails([`### ${headline}`, ...this.calls].join('\n\n'));
  }
}

const HEADLINES: Record<TurnView['state'], string> = {
  waiting: 'Waiting for an earlier message of the session, or for a place of the team',
  running: 'Asking the model',
  answered: 'Answered',
  failed: 'Failed',
  cancelled: 'Stopped',
  superseded: 'The turn has ended, or another execution owns it',
};

const buildHeadline = ({ state, code, changes }: TurnView): string =>
  `${HEADLINES[state]}${code ? `: \`${code}\`` : ''}${changes ? `, and proposed ${changes} ${changes === 1 ? 'change' : 'changes'}` : ''}`;

/** Waits until the session's earlier messages are answered and the team has a place at the model. A wake or a minute asks the row again. */
async function begin(input: AgentTurnInput, turn: TurnRef, details: TurnDetails, wakes: () => number): Promise<TurnView> {
  const first = input.mode === 'rules' ? answerByRules : beginTurn;
  let seen = wakes(); // read before the row, so that no wake is lost
  let view = await first(turn);
  for (let waits = 0; view.state === 'waiting'; waits += 1) {
    const waited = seen;
    if (waits === 0) upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: 'waiting' });
    details.show(buildHeadline(view));
    await condition(() => wakes() > waited, '1 minute', { summary: 'Earlier message' });
    seen = wakes();
    view = await first(turn);
    if (view.state !== 'waiting') upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: null });
  }
  return view;
}

/** Asks the model until it has answered, its steps are used up, or the scope is cancelled: by a stop, an operator or the time limit. */
async function askUntilDone(turn: TurnRef, details: TurnDetails): Promise<TurnEnd | 'superseded'> {
  for (let step = 0; step < TURN_MAX_STEPS; step += 1) {
    const result = await askModel(step)(turn, step);
    details.asked(result);
    details.show(HEADLINES.running);
    if (result.said !== 'more') return result.said;
  }
  return 'loop_limit';
}

/**
 * Orchestrates the agent's work on one message. PostgreSQL holds the message, the turn and its answer, and decides everything; this
 * workflow carries ids, counts and codes. Completes normally even if the turn failed: a failed workflow means a fault of ours.
 */
export async function agentTurn(input: AgentTurnInput): Promise<TurnView> {
  const turn: TurnRef = { messageId: input.messageId, incarnation: input.incarnation };
  const details = new TurnDetails();
  const asking = new CancellationScope({ cancellable: true, timeout: `${TURN_SECONDS} seconds` });
  let wakes = 0;
  let isStopped = false;
  setHandler(wake, () => {
    wakes += 1;
  });
  setHandler(stop, () => {
    wakes += 1;
    isStopped = true;
    asking.cancel();
  });
  const asked = async (): Promise<TurnEnd | 'superseded'> => {
    details.show(HEADLINES.running);
    return asking.run(() => askUntilDone(turn, details));
  };
  let view: TurnView | undefined;
  let end: TurnEnd | 'superseded' = 'internal';
  try {
    view = await begin(input, turn, details, () => wakes);
    if (view.state === 'running') end = await asked();
  } catch (error) {
    const isEnded = isStopped || CancellationScope.current().consideredCancelled;
    end = !isCancellation(error) ? classifyEnd(error) : isEnded ? 'cancelled' : 'timed_out';
    view = undefined;
  }
  // The end is written even if an operator cancels the workflow.
  if (end === 'superseded') view = { state: 'superseded' };
  else if (view === undefined || view.state === 'running')
    view = await CancellationScope.nonCancellable(() => finishTurn(turn, end as TurnEnd));
  if (view.state === 'failed' || view.state === 'cancelled')
    upsertAttributes(input, { key: SEARCH_ATTRIBUTES.RunState, value: view.code ?? view.state });
  details.show(buildHeadline(view));
  await condition(allHandlersFinished);
  return view;
}
