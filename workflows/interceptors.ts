import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { CORRELATION_HEADER } from './contracts/queues.js';

/**
 * Passes the correlation id of a workflow's start to each of its activities, so that log lines, audit entries and error envelopes
 * share one id.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let correlation: Headers = {};
  const withCorrelation = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...correlation },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const id = input.headers[CORRELATION_HEADER];
          correlation = id ? { [CORRELATION_HEADER]: id } : {};
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleLocalActivity: (input, next) => next(withCorrelation(input)),
        scheduleActivity: (input, next) => next(withCorrelation(input)),
      },
    ],
  };
};
