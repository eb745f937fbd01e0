import type { CycleReport } from '../../../work/cycles/schema.js';

const DAY_MS = 86_400_000;
/** Units of the drawing. The labels of the axis stand to the left of the plot. */
const PLOT = { left: 44, right: 12, top: 14, bottom: 26, width: 640, height: 220 };
const MAX_LINES = 5;
/** Days of a cycle that the drawing has room for with a mark each. */
const MAX_MARKS = 45;

/** What a burn-down counts. */
export type BurnUnit = 'tasks' | 'points';

/** A line of open tasks, or of their points, by day, the straight line to the last day, and the lines of the axis. */
export interface BurnDown {
  width: number;
  height: number;
  left: number;
  right: number;
  points: { x: number; y: number; date: string; remaining: number }[];
  path: string;
  /** From those at the start to none on the last day; absent without a later end. */
  ideal: string | undefined;
  lines: { y: number; count: number }[];
  /** Whether each day has a mark. */
  marked: boolean;
  last: string;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Returns the smallest round step that yields at most five lines. */
function stepFor(most: number): number {
  for (let power = 1; ; power *= 10) {
    const step = [1, 2, 5].map((each) => each * power).find((each) => most / each <= MAX_LINES);
    if (step !== undefined) return step;
  }
}

/** Returns whether the days of a report have sums of estimates: reports of earlier versions have none, and those of cycles without estimates. */
export const hasPoints = ({ days }: Pick<CycleReport, 'days'>): boolean => days.some(({ estimate }) => estimate !== undefined);

/** Places the days of a report in a drawing that reaches to the end date; undefined without a day. */
export function burnDown(
  { days: counted, cycle, committed: tasks }: Pick<CycleReport, 'days' | 'cycle' | 'committed'>,
  unit: BurnUnit,
): BurnDown | undefined {
  const days = unit === 'tasks' ? counted : counted.map((day) => ({ ...day, remaining: day.estimate ?? 0 }));
  const committed = unit === 'tasks' ? tasks : 0;
  const [first, final] = [days[0], days.at(-1)];
  if (!first || !final) return undefined;
  const { left, right, top, bottom, width, height } = PLOT;
  const begin = Date.parse(first.date);
  // A far end leaves room for the days that there are.
  const farthest = new Date(begin + 366 * DAY_MS).toISOString().slice(0, 10);
  const end = cycle.end_date !== null && cycle.end_date > final.date && cycle.end_date <= farthest ? cycle.end_date : final.date;
  const span = Math.max((Date.parse(end) - begin) / DAY_MS, 1);
  // What was completed on the first day was there when the cycle started.
  const start = Math.max(first.remaining, committed);
  const most = Math.max(...days.map(({ remaining }) => remaining), start, 1);
  const step = stepFor(most);
  const scaleTop = Math.ceil(most / step) * step;
  const toX = (date: string) => round(left + ((Date.parse(date) - begin) / DAY_MS / span) * (width - left - right));
  const toY = (count: number) => round(height - bottom - (count / scaleTop) * (height - top - bottom));
  const points = days.map(({ date, remaining }) => ({ date, remaining, x: toX(date), y: toY(remaining) }));
  const target = cycle.end_date !== null && cycle.end_date > first.date && cycle.end_date <= end ? cycle.end_date : undefined;
  return {
    width,
    height,
    left,
    right,
    points,
    path: points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join(''),
    ideal: target && `M${toX(first.date)} ${toY(start)}L${toX(target)} ${toY(0)}`,
    lines: Array.from({ length: scaleTop / step + 1 }, (_, at) => ({ y: toY(at * step), count: at * step })),
    marked: days.length <= MAX_MARKS,
    last: end,
  };
}
