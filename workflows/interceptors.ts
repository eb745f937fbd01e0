import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { CORRELATION_HEADER } from './contract.js';

/**
 * Hands the correlation id that a workflow was started with on to each of its activities, so that the worker's log lines, the
 * audit entries and the API's error envelope name one id.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let carried: Headers = {};
  const carry = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...carried },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const id = input.headers[CORRELATION_HEADER];
          carried = id ? { [CORRELATION_HEADER]: id } : {};
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleLocalActivity: (input, next) => next(carry(input)),
        scheduleActivity: (input, next) => next(carry(input)),
      },
    ],
  };
};
