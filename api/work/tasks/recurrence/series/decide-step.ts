import { dayIn, toMoment, nextDue, nextOnSchedule } from '../next-date.js';
import type { EndReason } from '../rules.js';
import type { Occurrence, Series } from './series.js';

/** Next step of a series. `at` is the time of the next occurrence; null if it waits for the current one to be done. */
export type Step =
  | { kind: 'wait'; at: Date | null }
  | { kind: 'make'; due: string; anchor: string }
  | { kind: 'end'; reason: EndReason };

const untilDone: Step = { kind: 'wait', at: null };

/**
 * Decides from the rows alone: a done occurrence has a successor, unless it was the last; `on_schedule`, the successor comes at
 * its own time, done or not.
 */
export function decideStep(series: Series, task: Pick<Occurrence, 'due_date'>): Step {
  const { recurrence, last_index, completed_index, now } = series;
  const { mode, timezone, count } = recurrence;
  const isDone = completed_index >= last_index;
  const onSchedule = mode === 'on_schedule';
  if (!isDone && !onSchedule) return untilDone;
  if (count !== null && last_index >= count) return isDone ? { kind: 'end', reason: 'count' } : untilDone;

  const begun = onSchedule ? series.started_at : (series.completed_at ?? now);
  const after = task.due_date ?? dayIn(timezone, begun);
  const calendar = { recurrence, anchor: series.anchor ?? after };
  const next = onSchedule ? nextOnSchedule(calendar, after, now) : nextDue(calendar, after);
  if ('none' in next) return isDone ? { kind: 'end', reason: next.none } : untilDone;
  const at = toMoment(next.due, timezone);
  return isDone || at <= now.getTime()
    ? { kind: 'make', due: next.due, anchor: calendar.anchor }
    : { kind: 'wait', at: new Date(at) };
}
