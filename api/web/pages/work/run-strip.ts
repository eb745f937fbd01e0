import { countRunsByDay, MAX_DAY_COUNT } from '../../../automation/runs/search-runs.js';
import type { Context } from '../../../platform/context.js';
import { dayRange, lastDays } from '../../wording/day-range.js';

const DAYS = 14;
/** Units of the drawing: one column a day, bars up for successes and down for failures, on one scale. */
const COLUMN = 10;
const BAR_WIDTH = 7;
const HALF_HEIGHT = 24;
/** A bar of one run among a hundred is still to be seen. */
const MIN_BAR = 2;

interface StripDay {
  date: string;
  /** As people read them: "100+" where counting stopped. */
  succeeded: string;
  failed: string;
  x: number;
  up: number;
  down: number;
}

export interface RunStrip {
  days: StripDay[];
  succeeded: string;
  failed: string;
  width: number;
  height: number;
  middle: number;
  barWidth: number;
}

const computeHeight = (runs: number, most: number): number =>
  runs === 0 ? 0 : Math.max(MIN_BAR, Math.round((runs / most) * HALF_HEIGHT));
const countText = (runs: number, capped: boolean): string => (capped ? `${Math.max(runs, MAX_DAY_COUNT)}+` : String(runs));

/** Returns successes and failures of the last days, drawn and in numbers; null where there are too many automations to count. */
export async function runStrip(ctx: Context, automationId: string | undefined, timeZone: string): Promise<RunStrip | null> {
  const dates = lastDays(DAYS, timeZone);
  const ranges = dates.map((date) => dayRange(date, timeZone));
  const counts = await countRunsByDay(ctx, ranges, automationId);
  if (!counts) return null;
  const found = (index: number, status: string) => counts.find((one) => one.day === index && one.status === status);
  const most = Math.max(1, ...counts.map(({ runs }) => runs));
  const days = dates.map((date, index) => {
    const [good, bad] = [found(index, 'succeeded'), found(index, 'failed')];
    return {
      date,
      succeeded: countText(good?.runs ?? 0, good?.capped ?? false),
      failed: countText(bad?.runs ?? 0, bad?.capped ?? false),
      x: index * COLUMN + (COLUMN - BAR_WIDTH) / 2,
      up: computeHeight(good?.runs ?? 0, most),
      down: computeHeight(bad?.runs ?? 0, most),
    };
  });
  const total = (status: string) => {
    const of = counts.filter((one) => one.status === status);
    const sum = of.reduce((runs, one) => runs + one.runs, 0);
    return of.some(({ capped }) => capped) ? `${sum}+` : String(sum);
  };
  const shape = { width: DAYS * COLUMN, height: 2 * HALF_HEIGHT + 2, middle: HALF_HEIGHT, barWidth: BAR_WIDTH };
  return { days, succeeded: total('succeeded'), failed: total('failed'), ...shape };
}
