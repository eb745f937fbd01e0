/** Failure of an action in the run's record: one line, without secrets or internals. */
export interface ActionFailure {
  code: string;
  message: string;
}

/** An action that cannot be performed. `isRetryable`: a later attempt may succeed. */
export class ActionRefused extends Error {
  constructor(
    readonly failure: ActionFailure,
    readonly isRetryable = false,
  ) {
    super(failure.message);
  }
}
