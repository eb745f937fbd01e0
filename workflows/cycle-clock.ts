import { continueAsNew, defineSignal, proxyLocalActivities } from '@temporalio/workflow';
import { CYCLE_SIGNALS, type CycleActivities, type CycleClockInput, type CycleView } from './contracts/cycle-contract.js';
import { type Found, followRow } from './follow-row.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

/** One transaction of up to 10,000 tasks, retried until it succeeds. */
const { completeDueCycle } = proxyLocalActivities<CycleActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '200 ms', maximumInterval: '1 minute' },
  summary: 'Complete cycle if due',
});

type CycleResult = Pick<CycleView, 'state' | 'carriedOver'>;

const datesChanged = defineSignal(CYCLE_SIGNALS.datesChanged);
const completed = defineSignal(CYCLE_SIGNALS.completed);

/** Rounds of one execution; a round is a signal or a timer. */
const ROUNDS = 200;
/** Interval at which the clock of a cycle whose project is in the trash looks again. */
const SUSPENDED_POLL_MS = 60 * 60 * 1_000;

const minute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

function getState({ state, dueAt, completedAt, carriedOver }: CycleView): string {
  switch (state) {
    case 'waiting':
      return `» Waiting until ${dueAt === null ? 'its date' : minute(dueAt)} to complete the cycle`;
    case 'resting':
      return '» Suspended: its project is in the trash. Looks again every hour';
    case 'completed':
      return `Ended: **completed** at ${minute(completedAt ?? '')}, ${carriedOver ?? 0} open tasks rolled over`;
    case 'off':
      return 'Ended: no date completes the cycle any more';
    case 'gone':
      return 'Ended: there is no such cycle';
  }
}

const buildDetails = (view: CycleView): string =>
  view.state === 'gone'
    ? getState(view)
    : [`### Cycle ${view.number}`, getState(view), `${view.done} of ${view.tasks} tasks are done`].join('\n\n');

function show(input: CycleClockInput, view: CycleView): void {
  const { state, dueAt } = view;
  showDetails(buildDetails(view));
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: state === 'waiting' || state === 'resting' ? state : null },
    { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: dueAt === null ? null : new Date(dueAt) },
  );
}

/**
 * The clock of an active cycle: waits until the end of its last day, then completes it. PostgreSQL holds the dates and decides; a signal or
 * a timer only wakes the workflow to read the row again. Returns how it ended.
 */
export async function cycleClock(input: CycleClockInput): Promise<CycleResult> {
  const look = async (): Promise<Found<CycleResult>> => {
    const view = await completeDueCycle(input.cycleId);
    show(input, view);
    const { state, carriedOver, msLeft } = view;
    if (state === 'resting') return { waitMs: SUSPENDED_POLL_MS, summary: 'Recheck' };
    if (state === 'waiting') return { waitMs: msLeft, summary: 'Complete cycle' };
    return { end: { state, carriedOver } };
  };
  const ended = await followRow([datesChanged, completed], input.rounds ?? ROUNDS, look);
  return ended ? ended.end : continueAsNew<typeof cycleClock>(input);
}
