/** What a run's record says of a failed action; one line, no secret, nothing of our insides. */
export interface ActionFailure {
  code: string;
  message: string;
}

/** An action that cannot be done, and will not be by trying again. */
export class ActionRefused extends Error {
  constructor(readonly failure: ActionFailure) {
    super(failure.message);
  }
}
