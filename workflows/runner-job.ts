import { continueAsNew, defineSignal, proxyLocalActivities } from '@temporalio/workflow';
import {
  JOB_CHANGED_SIGNAL,
  type RunnerJobActivities,
  type RunnerJobInput,
  type RunnerJobView,
} from './contracts/runner-contract.js';
import { type Found, followRow } from './follow-row.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

/** A short database write, retried until it succeeds. */
const { settleRunnerJob } = proxyLocalActivities<RunnerJobActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
  summary: 'End job past its deadline',
});

const jobChanged = defineSignal(JOB_CHANGED_SIGNAL);

/** Rounds of one execution; a round is a signal or a timer, and a job that runs for hours has one a minute. */
const ROUNDS = 500;

type JobResult = Pick<RunnerJobView, 'state' | 'exitCode' | 'reason'>;
type OpenState = 'queued' | 'claimed' | 'running';
const TIMERS: Record<OpenState, string> = {
  queued: 'Wait for a runner',
  claimed: 'Lease of the runner',
  running: 'Lease of the runner',
};

const isOpen = (state: RunnerJobView['state']): state is OpenState => Object.hasOwn(TIMERS, state);
const second = (iso: string | null): string => (iso === null ? '' : `${iso.slice(0, 19).replace('T', ' ')} UTC`);

function buildDetails({ state, dueAt, exitCode, reason }: RunnerJobView): string {
  if (state === 'gone') return 'Ended: there is no such job';
  if (state === 'queued') return `» Waiting for a runner, until ${second(dueAt)}`;
  if (isOpen(state))
    return `» **${state}** by a runner. Looks again at ${second(dueAt)}: without a report until then the job is lost`;
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  return `Ended: **${state}**${code}${reason === null ? '' : ` (\`${reason}\`)`}`;
}

function show(input: RunnerJobInput, view: RunnerJobView, before: string | undefined): void {
  const { state, dueAt } = view;
  showDetails(buildDetails(view));
  // A lease is renewed every few seconds: only a new state is worth a write to Temporal's store.
  if (state === before) return;
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: state === 'succeeded' ? null : state },
    { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: dueAt === null ? null : new Date(dueAt) },
  );
}

/**
 * The clocks of a job: until a runner takes it, its lease, its own time, and the stop of a cancelled one. PostgreSQL holds them and decides;
 * a signal or a timer only wakes the workflow to read the row again. Returns how the job ended.
 */
export async function runnerJob(input: RunnerJobInput): Promise<JobResult> {
  let shown: string | undefined;
  const look = async (): Promise<Found<JobResult>> => {
    const view = await settleRunnerJob(input.jobId);
    show(input, view, shown);
    const { state, exitCode, reason, msLeft } = view;
    shown = state;
    return isOpen(state) ? { waitMs: msLeft, summary: TIMERS[state] } : { end: { state, exitCode, reason } };
  };
  const ended = await followRow([jobChanged], input.rounds ?? ROUNDS, look);
  return ended ? ended.end : continueAsNew<typeof runnerJob>(input);
}
