import { continueAsNew, defineSignal, proxyLocalActivities } from '@temporalio/workflow';
import { type RecurringTaskInput, SERIES_SIGNALS, type SeriesActivities, type SeriesView } from './contracts/series-contract.js';
import { type Found, followRow } from './follow-row.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { upsertAttributes } from './upsert-attributes.js';
import { showDetails } from './show-details.js';

/** Short database writes, retried until they succeed: a permission error is part of the view, not thrown. */
const { advanceSeries } = proxyLocalActivities<SeriesActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

const completed = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.completed']);
const ruleChanged = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.changed']);
const end = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.ended']);

/** Rounds of one execution; a round is a signal or a timer, and at most one occurrence. */
const ROUNDS = 200;
/** Number of created occurrences shown to operators. */
const SHOWN = 10;
/** Retry interval of a blocked series: a role may have been restored. */
const BLOCKED_RETRY_MS = 60 * 60 * 1_000;

const minute = (iso: string): string => (iso.length === 10 ? iso : `${iso.slice(0, 16).replace('T', ' ')} UTC`);

function currentStep(view: SeriesView): string {
  switch (view.state) {
    case 'ended':
      return `Ended: ${view.reason ?? 'no occurrences left'}`;
    case 'resting':
      return `Suspended: ${view.reason}. Continues when that task is restored`;
    case 'blocked':
      return `Blocked: ${view.reason}. Retried every hour`;
    case 'waiting':
      return view.nextAt
        ? `Waiting until ${minute(view.nextAt)}, or until the task is completed`
        : `Waiting for the task to be completed`;
  }
}

/** Returns Markdown: the rule, the state of the series, and its latest occurrences. */
const buildDetails = (view: SeriesView, made: string[]): string =>
  [
    `### \`${view.rule}\` in ${view.timezone}, ${view.mode === 'on_schedule' ? 'on schedule' : 'on completion'}`,
    currentStep(view),
    `Occurrence ${view.index}: task \`${view.taskId ?? 'deleted'}\`${view.dueDate ? `, due ${minute(view.dueDate)}` : ''}`,
    ...(made.length > 0 ? [`Occurrences created:\n${made.map((line) => `- ${line}`).join('\n')}`] : []),
  ].join('\n\n');

function show(input: RecurringTaskInput, view: SeriesView, made: string[]): void {
  showDetails(buildDetails(view, made));
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: view.state },
    { key: SEARCH_ATTRIBUTES.EntityId, value: view.taskId },
    { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: view.nextAt === null ? null : new Date(view.nextAt) },
  );
}

/** Returns when to check again, unless a signal comes first. */
function nextLook(view: SeriesView): Found<string> {
  if (view.state === 'ended') return { end: `ended: ${view.reason}` };
  if (view.state === 'blocked') return { waitMs: BLOCKED_RETRY_MS, summary: 'Retry' };
  return { waitMs: view.msLeft, summary: `Create occurrence ${view.index + 1}` };
}

/**
 * Orchestrates one recurring series: waiting only. PostgreSQL stores the series and decides; a signal or a timer wakes the
 * workflow to read the rows again, so signals may be repeated, delayed, or merged.
 */
export async function recurringTask(input: RecurringTaskInput): Promise<string> {
  const made: string[] = [];
  const look = async (): Promise<Found<string>> => {
    const view = await advanceSeries(input.seriesId);
    if (!view) return { end: 'nothing to do: the series does not exist' };
    if (view.made) {
      made.push(`${view.index}: task \`${view.taskId}\`, due ${view.dueDate && minute(view.dueDate)}`);
      return 'recheck'; // more may be due at once
    }
    show(input, view, made.slice(-SHOWN));
    return nextLook(view);
  };
  const ended = await followRow([completed, ruleChanged, end], input.rounds ?? ROUNDS, look);
  return ended ? ended.end : continueAsNew<typeof recurringTask>(input);
}
