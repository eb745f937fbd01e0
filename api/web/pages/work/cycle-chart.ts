import type { CycleWeek } from '../../../integrations/forge/cycle-time/read-cycle-trend.js';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** Units of the drawing. The labels of the axis stand to the left of the plot. */
const PLOT = { left: 44, right: 12, top: 14, bottom: 26, width: 640, height: 220 };
/** Steps of the axis, hours; the smallest that yields at most five lines is chosen. */
const STEPS = [1, 2, 6, 12, 24, 48, 120, 240, 480, 1_200, 2_400, 4_800, 12_000];
const MAX_LINES = 5;

interface ChartPoint extends CycleWeek {
  x: number;
  median: number;
  p75: number;
}

/** A line chart: points by week, two paths that a gap of weeks interrupts, and the lines of the axis. */
export interface CycleChart {
  width: number;
  height: number;
  left: number;
  right: number;
  bottom: number;
  points: ChartPoint[];
  medianPath: string;
  p75Path: string;
  lines: { y: number; hours: number }[];
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Returns the path through the points of one series; starts anew after a week without a merge. */
function buildPath(points: ChartPoint[], series: 'median' | 'p75'): string {
  const parts = points.map((point, at) => {
    const previous = points[at - 1];
    const follows = previous && Date.parse(point.week) - Date.parse(previous.week) <= WEEK_MS;
    return `${follows ? 'L' : 'M'}${point.x} ${point[series]}`;
  });
  return parts.join('');
}

/** Places weeks in a drawing; undefined without a week. */
export function cycleChart(weeks: CycleWeek[]): CycleChart | undefined {
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (!first || !last) return undefined;
  const { left, right, top, bottom, width, height } = PLOT;
  const most = Math.max(...weeks.map(({ p75_hours }) => p75_hours), 1);
  const step = STEPS.find((hours) => most / hours <= MAX_LINES) ?? Math.ceil(most / MAX_LINES);
  const scaleTop = Math.ceil(most / step) * step;
  const span = Math.max((Date.parse(last.week) - Date.parse(first.week)) / WEEK_MS, 1);
  const toX = (week: string) =>
    round(left + ((Date.parse(week) - Date.parse(first.week)) / WEEK_MS / span) * (width - left - right));
  const toY = (hours: number) => round(height - bottom - (hours / scaleTop) * (height - top - bottom));
  const points = weeks.map((week) => ({ ...week, x: toX(week.week), median: toY(week.median_hours), p75: toY(week.p75_hours) }));
  const lines = Array.from({ length: Math.floor(scaleTop / step) + 1 }, (_, at) => ({ y: toY(at * step), hours: at * step }));
  const paths = { medianPath: buildPath(points, 'median'), p75Path: buildPath(points, 'p75') };
  return { width, height, left, right, bottom, points, lines, ...paths };
}
