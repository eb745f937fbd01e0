import { Counter } from 'prom-client';
import { metrics } from './metrics.js';

/** Why a model gave no usable answer. Fixed codes: a provider's own words may repeat the prompt or the key. */
const MODEL_ERRORS = ['model_busy', 'model_refused', 'model_garbled', 'model_unreachable', 'model_too_long'] as const;
export type ModelErrorCode = (typeof MODEL_ERRORS)[number];

const errors = new Counter({
  name: 'agent_model_errors_total',
  help: 'Failed calls of the model by code',
  labelNames: ['code'] as const,
  registers: [metrics],
});
// Zeros from the start: an alert that looks for an increase would miss the first failure.
for (const code of MODEL_ERRORS) errors.inc({ code }, 0);
const tokens = new Counter({
  name: 'agent_tokens_total',
  help: 'Tokens of all calls of the model, reported or estimated',
  labelNames: ['kind'] as const,
  registers: [metrics],
});

/** Records a failed call of the model. */
export function countModelError(code: ModelErrorCode): void {
  errors.inc({ code });
}

/** Records the tokens of a call. */
export function countTokens(input: number, output: number): void {
  tokens.inc({ kind: 'input' }, input);
  tokens.inc({ kind: 'output' }, output);
}
