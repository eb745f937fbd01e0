import type { OutboxKind } from '../../../platform/outbox/outbox.js';

const KIND: OutboxKind = 'run.wake';

/** SQL expressions over the rows of `from`. */
interface Wake {
  runId?: string;
  incarnation?: string;
  gateIndex?: string;
  correlationId: string;
  /** The rest of the statement: one run is woken per row. */
  from: string;
}

/** Builds the insert that wakes the workflows of runs after the commit; each then reads the run's rows again. */
export const wakeRun = ({ runId = 'run_id', incarnation = 'incarnation', gateIndex, correlationId, from }: Wake): string => {
  const gate = gateIndex === undefined ? '' : `, 'gate_index', ${gateIndex}`;
  return /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select '${KIND}', (${runId})::text, jsonb_build_object('run_id', ${runId}, 'incarnation', ${incarnation}${gate}), ${correlationId}
  ${from}`;
};
