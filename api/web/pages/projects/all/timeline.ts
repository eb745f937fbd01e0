import type { ProjectRecord } from '../../../../work/projects/schema.js';

const DAY_MS = 86_400_000;
/** Days before and after today that a timeline shows at most, and days after today that it shows at least. */
const REACH = { past: 365, future: 730, ahead: 60 };
/** Names of months that have room beside each other. */
const MAX_NAMES = 12;

type Dated = Pick<ProjectRecord, 'project_id' | 'created_at' | 'start_date' | 'end_date'>;

/** Where a project stands on the scale, as shares of its width in percent. */
interface Bar {
  x: number;
  width: number;
  /** First day; the day of its creation without one. */
  start: string;
  /** Last day; undefined for a project without one, whose bar reaches to the end of the scale. */
  end: string | undefined;
}

/** Projects on one scale. `months` are the marks of the scale, each with its first day. */
export interface Timeline {
  months: { x: number; day: string }[];
  today: number;
  bars: ReadonlyMap<string, Bar>;
}

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);
const monthOf = (day: string): number => Date.parse(`${day.slice(0, 7)}-01`);

function nextMonth(month: number, count = 1): number {
  const date = new Date(month);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count, 1);
}

/**
 * Places projects on a scale of whole months around today. What lies further away is cut at its edges.
 * @param today day in the reader's time zone (`2026-11-20`)
 */
export function timelineOf(projects: readonly Dated[], today: string): Timeline {
  const now = Date.parse(today);
  const spans = projects.map(({ project_id, created_at, start_date, end_date }) => {
    const [start, end] = [start_date ?? created_at.slice(0, 10), end_date ?? undefined];
    return { project_id, end, start: end !== undefined && start > end ? end : start };
  });
  const first = Math.max(now - REACH.past * DAY_MS, Math.min(now, ...spans.map(({ start }) => Date.parse(start))));
  const last = Math.min(
    now + REACH.future * DAY_MS,
    Math.max(now + REACH.ahead * DAY_MS, ...spans.map(({ end }) => (end === undefined ? now : Date.parse(end)))),
  );
  const [begin, edge] = [monthOf(dayOf(first)), nextMonth(monthOf(dayOf(last)))];
  const toX = (moment: number) => Math.round(((Math.min(Math.max(moment, begin), edge) - begin) / (edge - begin)) * 10_000) / 100;
  const months: number[] = [];
  for (let month = begin; month < edge; month = nextMonth(month)) months.push(month);
  const step = Math.ceil(months.length / MAX_NAMES);
  return {
    months: months.filter((_, at) => at % step === 0).map((month) => ({ x: toX(month), day: dayOf(month) })),
    today: toX(now + DAY_MS / 2),
    bars: new Map(
      spans.map(({ project_id, start, end }) => {
        const x = toX(Date.parse(start));
        // The last day belongs to the project.
        return [project_id, { x, start, end, width: (end === undefined ? 100 : toX(Date.parse(end) + DAY_MS)) - x }];
      }),
    ),
  };
}
