/** What a run's record says of a failed action; one line, no secret, nothing of our insides. */
export interface ActionFailure {
  code: string;
  message: string;
}

/** An action that cannot be done. `isRetryable`: it may be done the next time. */
export class ActionRefused extends Error {
  constructor(
    readonly failure: ActionFailure,
    readonly isRetryable = false,
  ) {
    super(failure.message);
  }
}
