import type { TurnEnd } from '../../../../workflows/contracts/turn-contract.js';
import type { ModelFailure } from '../model-failure.js';

/** Longest wait of a provider that a person in a chat waits out, ms. */
const MAX_CHAT_WAIT_MS = 20_000;

/** A model's step that ends the turn, or is attempted again. It holds a code and no words. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';

  constructor(
    readonly code: Exclude<TurnEnd, 'done'>,
    readonly isRetryable = false,
    /** Wait before the next attempt, ms; null for the workflow's own backoff. */
    readonly waitMs: number | null = null,
  ) {
    super(code);
  }
}

/** Returns the failure of a step for that of a call. A wait that nobody in a chat would sit through is final. */
export function toStepFailure({ code, isRetryable, waitMs }: ModelFailure): StepFailure {
  if (code === 'model_too_long') return new StepFailure('model_refused');
  const isTooLong = waitMs !== null && waitMs > MAX_CHAT_WAIT_MS;
  return new StepFailure(code, isRetryable && !isTooLong, waitMs);
}
