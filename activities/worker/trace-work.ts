import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { scopeCorrelation } from '../../api/platform/telemetry/log.js';
import { currentSpan } from '../../api/platform/telemetry/tracing/current-span.js';
import { CORRELATION_HEADER } from '../../workflows/contracts/queues.js';
import type { Span, SpanStart, Tracer } from '../../api/platform/telemetry/tracing/tracer.js';

/** Workflows that one row starts once. The id of that row names the span of their start, so that activities in any process find their parent. */
const STARTED_ONCE = /^(?:run|plan|turn|bulk|revoke):([0-9a-f-]{36})$/;
const getRowId = (workflowId: string): string | undefined => STARTED_ONCE.exec(workflowId)?.[1];

const getRunId = (workflowId: string): string | undefined =>
  workflowId.startsWith('run:') ? workflowId.slice('run:'.length) : undefined;

/** Ends the span when the work does. */
async function during<T>(span: Span, attributes: Parameters<Span['end']>[0], work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end(attributes);
    return result;
  } catch (error) {
    span.end(attributes, true);
    throw error;
  }
}

/** What an outbox row and its subject say of a dispatch. */
export interface TracedRow {
  correlation_id: string;
  kind?: string;
  payload?: { incarnation?: number };
  /** The span of the event in this process; of another process only the request is known. */
  event_span?: string | undefined;
}

/** Whether the row starts its workflow for the first time, not again and not to wake it. */
const isFirstStart = ({ kind = '', payload }: TracedRow): boolean => !kind.endsWith('.wake') && (payload?.incarnation ?? 1) === 1;

/** Dispatches a row to Temporal within a span. `process`: the name of the workflow for operators. */
export async function traceDispatch(
  tracer: Tracer,
  row: TracedRow,
  { workflowId, process }: { workflowId: string; process: string },
  dispatch: () => Promise<void>,
): Promise<void> {
  const since = performance.now();
  const parent = row.event_span ?? row.correlation_id;
  const about: SpanStart = { name: `dispatch ${process}`, kind: 'producer', parent, since };
  const attributes = { run_id: getRunId(workflowId) };
  try {
    await dispatch();
  } catch (error) {
    tracer.begin(row.correlation_id, about)?.end(attributes, true);
    throw error;
  }
  // Only the attempt that succeeds has the id that activities know.
  tracer.begin(row.correlation_id, { ...about, id: isFirstStart(row) ? getRowId(workflowId) : undefined })?.end(attributes);
}

/** Runs each activity within a span, which its outbound requests find. Runs inside the log scope, which knows the correlation id. */
export const traceActivities =
  (tracer: Tracer): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute(input, next) {
        const correlationId = scopeCorrelation();
        if (correlationId === undefined) return next(input);
        const { activityType, attempt, workflowType, workflowExecution: { workflowId = '' } = {} } = info;
        // Only the clock causes work without a header. It is the first span, by whose id other processes find it.
        const isFirst = input.headers[CORRELATION_HEADER] === undefined;
        const place = isFirst ? { id: correlationId, parent: null } : { parent: getRowId(workflowId) ?? correlationId };
        const span = tracer.begin(correlationId, { name: activityType, kind: 'internal', ...place });
        if (!span) return next(input);
        const workflow_id = isFirst ? workflowId : undefined;
        const attributes = { run_id: getRunId(workflowId), workflow_id, workflow_type: workflowType, attempt };
        return during(span, attributes, () => currentSpan.run(span, () => next(input)));
      },
    },
  });
