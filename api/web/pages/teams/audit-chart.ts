import type { DayCount } from '../../../audit/log/read-stats.js';

/** Units of the drawing. The labels of the axis stand to the left of the plot. */
const PLOT = { left: 44, right: 4, top: 10, bottom: 24, width: 640, height: 180 };
/** Features with a pattern of their own; the others share one. */
const SHOWN = 4;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
const MAX_LINES = 4;
const GAP = 2;

interface Part {
  /** Position in `features`, which gives the color. */
  kind: number;
  feature: string;
  count: number;
  y: number;
  height: number;
}

/** Stacked columns, one a day. */
export interface AuditChart {
  width: number;
  height: number;
  left: number;
  right: number;
  /** Most frequent first; `others` stands for the rest. */
  features: string[];
  columns: { date: string; total: number; x: number; width: number; parts: Part[] }[];
  lines: { y: number; count: number }[];
}

const round = (value: number): number => Math.round(value * 10) / 10;
const OTHERS = 'others';

/** Returns the most frequent features, and `others` if there are more. */
function topFeatures(days: readonly DayCount[]): string[] {
  const counts = new Map<string, number>();
  for (const { by_feature } of days)
    for (const [feature, count] of Object.entries(by_feature)) counts.set(feature, (counts.get(feature) ?? 0) + count);
  const sorted = [...counts].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([feature]) => feature);
  return sorted.length > SHOWN + 1 ? [...sorted.slice(0, SHOWN), OTHERS] : sorted;
}

/** Draws days as stacked columns; undefined without an entry. */
export function auditChart(days: readonly DayCount[]): AuditChart | undefined {
  const features = topFeatures(days);
  if (features.length === 0) return undefined;
  const { left, right, top, bottom, width, height } = PLOT;
  const most = Math.max(...days.map(({ total }) => total));
  const step = STEPS.find((count) => most / count <= MAX_LINES) ?? Math.ceil(most / MAX_LINES);
  const scaleTop = Math.ceil(most / step) * step;
  const perEntry = (height - top - bottom) / scaleTop;
  const room = (width - left - right) / days.length;
  const columns = days.map(({ date, total, by_feature }, at) => {
    const named = features.filter((feature) => feature !== OTHERS).map((feature) => [feature, by_feature[feature] ?? 0] as const);
    const rest = total - named.reduce((sum, [, count]) => sum + count, 0);
    let y = height - bottom;
    const parts = [...named, [OTHERS, rest] as const].flatMap(([feature, count]) => {
      if (count === 0) return [];
      y -= count * perEntry;
      return [{ kind: features.indexOf(feature), feature, count, y: round(y), height: round(count * perEntry) }];
    });
    return { date, total, x: round(left + at * room), width: round(room - GAP), parts };
  });
  const lines = Array.from({ length: Math.floor(scaleTop / step) + 1 }, (_, at) => ({
    y: round(height - bottom - at * step * perEntry),
    count: at * step,
  }));
  return { width, height, left, right, features, columns, lines };
}
