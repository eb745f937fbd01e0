import { Counter } from 'prom-client';
import { metrics } from './metrics.js';

const errors = new Counter({
  name: 'agent_model_errors_total',
  help: 'Failed calls of the model by code',
  labelNames: ['code'] as const,
  registers: [metrics],
});
const tokens = new Counter({
  name: 'agent_tokens_total',
  help: 'Tokens of all calls of the model, reported or estimated',
  labelNames: ['kind'] as const,
  registers: [metrics],
});

/** Records a failed call of the model. */
export function countModelError(code: string): void {
  errors.inc({ code });
}

/** Records the tokens of a call. */
export function countTokens(input: number, output: number): void {
  tokens.inc({ kind: 'input' }, input);
  tokens.inc({ kind: 'output' }, output);
}
