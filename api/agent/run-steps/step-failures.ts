/** Why a model gave a step of a run no plan. Fixed texts: nothing of a request, an answer or a provider's words. */
const FAILURES: Record<string, { message: string; isRetryable?: true }> = {
  model_busy: { message: 'The model is busy', isRetryable: true },
  model_unreachable: { message: 'The model cannot be reached', isRetryable: true },
  model_garbled: { message: 'The model’s answer could not be read', isRetryable: true },
  timed_out: { message: 'The model took longer than a request may take', isRetryable: true },
  internal: { message: 'The agent failed on our side', isRetryable: true },
  loop_limit: { message: 'The model took more steps than a request may take' },
  model_refused: { message: 'The model’s provider refused the request; an administrator of this installation can see why' },
  budget_exceeded: { message: 'The team’s budget for the model is used up for this month' },
  model_not_allowed: { message: 'The team of a linked item does not allow the model any more' },
  cancelled: { message: 'The request to the model was stopped' },
  nothing_proposed: { message: 'The model’s answer led to no plan; the session of the step holds the answer' },
};

/** Returns the failure of a step for the code of its turn. */
export const stepFailure = (code: string): { code: string; message: string; isRetryable: boolean } => ({
  code,
  message: FAILURES[code]?.message ?? 'The agent gave no plan',
  isRetryable: FAILURES[code]?.isRetryable === true,
});
