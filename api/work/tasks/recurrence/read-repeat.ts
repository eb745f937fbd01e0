import { addTo } from '../../../platform/calendar-days.js';
import { type FoundRepeat, readRepeat, toRule, type WrittenRepeat } from '../../../platform/written-repeats.js';
import { nextDue } from './next-date.js';
import type { Recurrence } from './rules.js';

/** A recurrence that words describe, with the due date of its first task; or why there is none. */
export type ReadRecurrence = { recurrence: Recurrence; due: string } | { problem: string };

export const REPEAT_HINT = 'write every monday, every 2 weeks or monthly on the 1st';

const PROBLEMS: Readonly<Record<Extract<FoundRepeat, string>, (said: string) => string>> = {
  impossible: (said) => `“${said}” is no repeat of a calendar: ${REPEAT_HINT}`,
  unclear: (said) => `“${said}” can mean two things: write every other monday, or every second monday of the month`,
};

/** Returns the first day of the rule on or after the day on which it starts; null if it ends before. */
function firstDue(repeat: WrittenRepeat, recurrence: Recurrence, today: string): string | null {
  const anchor = repeat.start ?? today;
  const rule = toRule({ ...repeat, every: 1 }) ?? recurrence.rule;
  const next = nextDue({ recurrence: { ...recurrence, rule }, anchor }, addTo(anchor, { days: -1 }));
  return 'due' in next ? next.due : null;
}

/**
 * Returns the recurrence of a task that a repeat means.
 * @param said the words, for a message
 * @param today YYYY-MM-DD where the person is
 */
export function toRecurrence(found: FoundRepeat, said: string, today: string, timezone: string): ReadRecurrence {
  if (typeof found === 'string') return { problem: PROBLEMS[found](said) };
  const rule = toRule(found);
  if (rule === undefined) return { problem: 'A task repeats every day at most; an automation can run more often' };
  if (found.time !== null) return { problem: `A task repeats on days, without a time: leave out the time of “${said}”` };
  const { until, count } = found;
  const recurrence: Recurrence = { rule, mode: found.onSchedule ? 'on_schedule' : 'on_complete', timezone, until, count };
  const due = firstDue(found, recurrence, today);
  return due === null ? { problem: `“${said}” ends before its first day` } : { recurrence, due };
}

const MAX_TEXT = 200;

/** Reads a text that says nothing but how often a task repeats. */
export function readRecurrence(text: string, today: string, timezone: string): ReadRecurrence {
  const said = text.trim().slice(0, MAX_TEXT);
  const found = readRepeat(said, today);
  return found === undefined ? { problem: `“${said}” is no repeat: ${REPEAT_HINT}` } : toRecurrence(found, said, today, timezone);
}
