import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { coveredTeams } from './covered-teams.js';
import { statsStatement } from './read-stats.sql.js';
import { naiveTime } from './filters.js';
import type { AuditStats, ReadStats } from './schema.js';

const DAY_MS = 86_400_000;
const TOP_USERS = 10;

interface KindCount {
  feature: string;
  action: string;
  severity: string;
  date: string;
  count: number;
}
interface Stats {
  kinds: KindCount[];
  users: { user_id: string; count: number }[];
  [column: string]: unknown;
}

/** Adds up the counts of rows with the same key; most frequent first. */
function sums(rows: readonly KindCount[], key: 'feature' | 'action' | 'severity' | 'date'): Record<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[key], (counts.get(row[key]) ?? 0) + row.count);
  return Object.fromEntries([...counts].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)));
}

/** Returns the last dates, oldest first, today included. */
const lastDates = (now: number, days: number): string[] =>
  Array.from({ length: days }, (_one, n) => naiveTime(now - (days - 1 - n) * DAY_MS).slice(0, 10));

/** Counts by kind and date, and the most active users, of the last `days` days. */
async function countKinds(ctx: Context, teams: string[], days: number) {
  const now = Date.now();
  const dates = lastDates(now, days);
  const first = dates[0] as string;
  const [row] = await run<Stats>(ctx.db, statsStatement, [teams, first, TOP_USERS]);
  return { ...(row as Stats), now, dates, first };
}

/** Entries of one day. */
export interface DayCount {
  date: string;
  total: number;
  by_feature: Record<string, number>;
}

/** Counts the entries of these `coveredTeams` on each of the last `days` days in UTC by feature, oldest first. */
export async function countByDay(ctx: Context, teams: string[], days: number): Promise<DayCount[]> {
  const { kinds, dates } = await countKinds(ctx, teams, days);
  return dates.map((date) => {
    const ofDay = kinds.filter((kind) => kind.date === date);
    return { date, total: ofDay.reduce((sum, { count }) => sum + count, 0), by_feature: sums(ofDay, 'feature') };
  });
}

/**
 * Counts the entries of the last `days` days in UTC, today included, in one team or in all that the caller administers.
 * @throws PERMISSION_DENIED for a team that the caller does not administer
 */
export async function readStats(ctx: Context, { team_id, days }: ReadStats): Promise<AuditStats> {
  const { kinds, users, now, dates, first } = await countKinds(ctx, await coveredTeams(ctx, team_id), days);
  const byDate = sums(kinds, 'date');
  return {
    team_id: team_id ?? null,
    days,
    from_time: `${first}T00:00:00.000000`,
    to_time: naiveTime(now),
    total: kinds.reduce((sum, { count }) => sum + count, 0),
    by_feature: sums(kinds, 'feature'),
    by_action: sums(kinds, 'action'),
    by_severity: sums(kinds, 'severity'),
    by_user: users,
    by_day: dates.map((date) => ({ date, count: byDate[date] ?? 0 })),
  };
}
