import { run } from '../../../db/statement.js';
import { presentRun } from './present-run.js';
import type { RunSummary } from './schema.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { RunStatus } from './record/rules.js';
import type { RunView } from './record/run-record.js';
import {
  countNotKeptStatement,
  countRunsByDayStatements,
  listAutomationNamesStatement,
  searchBegunRunsStatements,
  searchRejectedRunsStatements,
  searchRunsByStatusStatements,
  searchRunsStatements,
  searchSkippedRunsStatements,
} from './search-runs.sql.js';

/** How a run stands, as people say it: a run that someone rejected has the status `skipped`; `begun` is any that was not skipped at once. */
export type RunState = RunStatus | 'rejected' | 'begun';

export interface SearchRuns {
  automationId?: string | undefined;
  state?: RunState | undefined;
  /** Earliest start, as an ISO time. */
  since?: string | undefined;
  /** End of the range, not included. */
  until?: string | undefined;
  /** The last run of the page before. */
  before?: string | undefined;
  limit: number;
}

/** Returns the newest runs that the caller sees and that match, of all automations or one. */
export async function searchRuns(
  ctx: Context,
  { automationId, state, since, until, before, limit }: SearchRuns,
): Promise<RunSummary[]> {
  const range = [since ?? '-infinity', until ?? 'infinity', before ?? null];
  const values = [requireUser(ctx), automationId ?? null, limit, ...range];
  const scope = automationId === undefined ? 'all' : 'one';
  if (state === undefined) return (await run<RunView>(ctx.db, searchRunsStatements[scope], values)).map(presentRun);
  if (state === 'begun' || state === 'rejected') {
    const statements = state === 'begun' ? searchBegunRunsStatements : searchRejectedRunsStatements;
    return (await run<RunView>(ctx.db, statements[scope], values)).map(presentRun);
  }
  const statements = state === 'skipped' ? searchSkippedRunsStatements : searchRunsByStatusStatements;
  return (await run<RunView>(ctx.db, statements[scope], [...values, state])).map(presentRun);
}

/** Counting further would read more the more runs there are. */
export const MAX_DAY_COUNT = 100;
/** Each automation costs a probe for each day and status. */
const MAX_COUNTED_AUTOMATIONS = 100;

export interface DayRange {
  startsAt: string;
  endsAt: string;
}
export interface DayCount extends Record<string, unknown> {
  /** Index of the day. */
  day: number;
  status: 'succeeded' | 'failed';
  runs: number;
  /** There are at least `MAX_DAY_COUNT` runs. */
  capped: boolean;
}

/** Returns how many runs started on each day and how they ended; null where the caller sees too many automations to count. */
export async function countRunsByDay(
  ctx: Context,
  days: readonly DayRange[],
  automationId: string | undefined,
): Promise<DayCount[] | null> {
  const bounds = [days.map(({ startsAt }) => startsAt), days.map(({ endsAt }) => endsAt)];
  const values = [requireUser(ctx), automationId ?? null, ...bounds, MAX_DAY_COUNT, MAX_COUNTED_AUTOMATIONS];
  const rows = await run<DayCount>(ctx.db, countRunsByDayStatements[automationId === undefined ? 'all' : 'one'], values);
  return rows.length === 0 ? null : rows;
}

export interface AutomationName extends Record<string, unknown> {
  automation_id: string;
  name: string;
}

/** Returns the first automations that the caller sees, by name. */
export const listAutomationNames = (ctx: Context, limit: number): Promise<AutomationName[]> =>
  run<AutomationName>(ctx.db, listAutomationNamesStatement, [requireUser(ctx), limit]);

/** Returns how many skipped runs of the last day were counted and not kept, in all teams of the caller. */
export async function countNotKept(ctx: Context): Promise<number> {
  const [row] = await run<{ runs: number }>(ctx.db, countNotKeptStatement, [requireUser(ctx)]);
  return row?.runs ?? 0;
}
