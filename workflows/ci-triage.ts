import { condition, defineSignal, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import { CI_FAILED_SIGNAL, type CiTriageInput, type TriageActivities, type TriageResult } from './contracts/triage-contract.js';
import { showDetails } from './show-details.js';
import { triageLine } from './triage-line.js';

const { triageFailure } = proxyLocalActivities<TriageActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  summary: 'Stage the plan of the failed run',
});

const failed = defineSignal<[receiptId: string]>(CI_FAILED_SIGNAL);

/** Deliveries of one run that postpone its plan; a run that fails more often has it anyway. */
const MAX_ROUNDS = 10;

/** The triage of one failed CI run: waits until no further delivery comes, then stages a plan of the last one. The result is the outcome. */
export async function ciTriage({ teamId, debounceMs }: CiTriageInput): Promise<TriageResult> {
  let last: string | undefined;
  let signals = 0;
  setHandler(failed, (receiptId) => {
    // Two signals may arrive in the other order. Receipts have ordered ids (UUIDv7).
    if (last === undefined || receiptId > last) last = receiptId;
    signals += 1;
  });
  showDetails('Waiting for further deliveries of the run');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const seen = signals;
    if (!(await condition(() => signals > seen, debounceMs, { summary: 'Debounce' }))) break;
  }
  if (last === undefined) return { outcome: 'nothing' };
  const result = await triageFailure(teamId, last);
  showDetails(triageLine(result));
  return result;
}
