import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import { type RecurringTaskInput, SERIES_SIGNALS, type SeriesActivities, type SeriesView } from './contract.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { upsertAttributes } from './upsert-attributes.js';
import { showDetails } from './show-details.js';

/** A short write to the database, tried until it gets through: what may not be done is told by the view, not thrown. */
const { advanceSeries } = proxyLocalActivities<SeriesActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
});

const completed = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.completed']);
const ruleChanged = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.changed']);
const end = defineSignal<[occurrenceIndex?: number]>(SERIES_SIGNALS['series.ended']);

/** Rounds of one execution; a round is a signal or a timer, and at most one occurrence. */
const ROUNDS = 200;
/** How many of the occurrences it made an operator sees. */
const SHOWN = 10;
/** A series that may not write tries again: a seat may have been given back. */
const BLOCKED_RETRY_MS = 60 * 60 * 1_000;
/** The longest one timer waits; after it the rows are read again. */
const MAX_WAIT_MS = 30 * 24 * 60 * 60 * 1_000;

const minute = (iso: string): string => (iso.length === 10 ? iso : `${iso.slice(0, 16).replace('T', ' ')} UTC`);

function currentStep(view: SeriesView): string {
  switch (view.state) {
    case 'ended':
      return `Ended: ${view.reason ?? 'nothing is left to do'}`;
    case 'resting':
      return `Resting: ${view.reason}. It goes on when that task is restored`;
    case 'blocked':
      return `Blocked: ${view.reason}. Tried again every hour`;
    case 'waiting':
      return view.nextAt ? `Waiting until ${minute(view.nextAt)}, or until the task is done` : `Waiting for the task to be done`;
  }
}

/** Markdown: the rule, where the series stands, and the occurrences made of late. */
const detailsOf = (view: SeriesView, made: string[]): string =>
  [
    `### \`${view.rule}\` in ${view.timezone}, ${view.mode === 'on_schedule' ? 'on its schedule' : 'when done'}`,
    currentStep(view),
    `Occurrence ${view.index}: task \`${view.taskId ?? 'deleted'}\`${view.dueDate ? `, due ${minute(view.dueDate)}` : ''}`,
    ...(made.length > 0 ? [`Made here:\n${made.map((line) => `- ${line}`).join('\n')}`] : []),
  ].join('\n\n');

function show(input: RecurringTaskInput, view: SeriesView, made: string[]): void {
  showDetails(detailsOf(view, made));
  upsertAttributes(
    input,
    { key: SEARCH_ATTRIBUTES.RunState, value: view.state },
    { key: SEARCH_ATTRIBUTES.EntityId, value: view.taskId },
    { key: SEARCH_ATTRIBUTES.NextAttemptAt, value: view.nextAt === null ? null : new Date(view.nextAt) },
  );
}

/** Until somebody signals, or until the next thing that comes by itself. */
async function rest(view: SeriesView, isWoken: () => boolean): Promise<void> {
  const wait = view.state === 'blocked' ? BLOCKED_RETRY_MS : view.msLeft;
  if (wait === null) return condition(isWoken);
  const summary = view.state === 'blocked' ? 'Try again in its name' : `Occurrence ${view.index + 1} comes`;
  await condition(isWoken, Math.min(Math.max(wait, 1), MAX_WAIT_MS), { summary });
}

/**
 * Carries one recurring series from occurrence to occurrence: waiting only. PostgreSQL holds the series and decides; a signal or
 * a timer wakes it to read the rows again, so signals may come twice, late, or fold into one.
 */
export async function recurringTask(input: RecurringTaskInput): Promise<string> {
  let wakes = 0;
  const wake = () => {
    wakes += 1;
  };
  for (const signal of [completed, ruleChanged, end]) setHandler(signal, wake);
  const made: string[] = [];
  for (let round = 0; round < (input.rounds ?? ROUNDS); round += 1) {
    const seen = wakes; // taken before the rows are read: no wake is lost
    const view = await advanceSeries(input.seriesId);
    if (!view) return 'nothing to do: there is no such series';
    if (view.made) {
      made.push(`${view.index}: task \`${view.taskId}\`, due ${view.dueDate && minute(view.dueDate)}`);
      continue; // there may be more to do at once
    }
    show(input, view, made.slice(-SHOWN));
    if (view.state === 'ended' && wakes === seen) {
      await condition(allHandlersFinished);
      return `ended: ${view.reason}`;
    }
    await rest(view, () => wakes > seen);
  }
  await condition(allHandlersFinished);
  return continueAsNew<typeof recurringTask>(input);
}
