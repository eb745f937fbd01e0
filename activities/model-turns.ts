import { activityInfo, ApplicationFailure, CancelledFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import { finishTurn } from '../api/agent/providers/steps/finish-turn.js';
import { modelStep } from '../api/agent/providers/steps/model-step.js';
import { StepFailure } from '../api/agent/providers/steps/step-failure.js';
import type { TurnExecution } from '../api/agent/turns/claim-turn.js';
import type { Services } from '../api/platform/context.js';
import { OUTBOUND_HEARTBEAT } from '../workflows/contracts/queues.js';
import type { TurnActivities, TurnRef } from '../workflows/contracts/turn-contract.js';

/** Returns a turn with the id of this activity's execution, as stored in the turn's row. */
const getExecution = (turn: TurnRef): TurnExecution => ({
  ...turn,
  execution: activityInfo().workflowExecution?.runId ?? 'none',
});

/** Name and code of an error of ours: its message may hold what was asked or read. */
function getKind(error: unknown): string {
  const { name, code } = (typeof error === 'object' && error !== null ? error : {}) as { name?: unknown; code?: unknown };
  return [name, code].filter((part) => typeof part === 'string' && /^[\w.-]{1,60}$/.test(part)).join(' ') || 'unknown';
}

/** Returns the failure that the workflow reads: a code, and how long to wait. Neither a history nor a log holds another word. */
function toFailure({ log }: Services, error: unknown): ApplicationFailure {
  if (error instanceof StepFailure) {
    const { code, isRetryable, waitMs } = error;
    const wait = waitMs === null ? {} : { nextRetryDelay: waitMs };
    return ApplicationFailure.create({ type: code, message: code, nonRetryable: !isRetryable, ...wait });
  }
  log.error({ kind: getKind(error) }, 'a turn of the agent failed on our side');
  return ApplicationFailure.create({ type: 'internal', message: 'internal' });
}

/** The call of a model, for the queue `outbound`. A cancelled activity aborts its request. */
export const modelStepActivities = (services: Services): Pick<TurnActivities, 'modelStep'> => ({
  async modelStep(turn, step) {
    const signal = cancellationSignal();
    const beat = setInterval(heartbeat, OUTBOUND_HEARTBEAT.everyMs);
    try {
      return await modelStep(services, getExecution(turn), step, signal);
    } catch (error) {
      throw signal.aborted ? new CancelledFailure('cancelled') : toFailure(services, error);
    } finally {
      clearInterval(beat);
    }
  },
});

/** The end of a model's turn, for the queue `core`. */
export const modelTurnActivities = (services: Services): Pick<TurnActivities, 'finishTurn'> => ({
  finishTurn: (turn, end) =>
    finishTurn(services, getExecution(turn), end).catch((error: unknown) => {
      throw toFailure(services, error);
    }),
});
