import { run } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';
import { lowestIdAt } from '../../core/ids.js';
import { coveredTeams } from './covered-teams.js';
import { statsByKindStatement, statsByUserStatement } from './read-stats.sql.js';
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
  [column: string]: unknown;
}

/** Adds up the counts of rows with the same key; most frequent first. */
function sums(rows: readonly KindCount[], key: 'feature' | 'action' | 'severity' | 'date'): Record<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[key], (counts.get(row[key]) ?? 0) + row.count);
  return Object.fromEntries([...counts].toSorted(([a, m], [b, n]) => n - m || a.localeCompare(b)));
}

/** Returns every date from the first time to the last. */
function datesBetween(from: number, to: number): string[] {
  const dates: string[] = [];
  for (let at = from - (from % DAY_MS); at <= to; at += DAY_MS) dates.push(naiveTime(at).slice(0, 10));
  return dates;
}

/**
 * Counts the entries of the last `days` days in one team, or in all that the caller administers.
 * @throws PERMISSION_DENIED for a team that the caller does not administer
 */
export async function readStats(ctx: Context, { team_id, days }: ReadStats): Promise<AuditStats> {
  const teams = await coveredTeams(ctx, team_id);
  const to = Date.now();
  const from = to - days * DAY_MS;
  // Entries of this moment included, also where the database's clock is ahead.
  const window = [teams, naiveTime(from), naiveTime(to + DAY_MS), lowestIdAt(from - DAY_MS)];
  const rows = await run<KindCount>(ctx.db, statsByKindStatement, window);
  const by_user = await run<{ user_id: string; count: number }>(ctx.db, statsByUserStatement, [...window, TOP_USERS]);
  const byDate = sums(rows, 'date');
  return {
    team_id: team_id ?? null,
    days,
    from_time: naiveTime(from),
    to_time: naiveTime(to),
    total: rows.reduce((sum, { count }) => sum + count, 0),
    by_feature: sums(rows, 'feature'),
    by_action: sums(rows, 'action'),
    by_severity: sums(rows, 'severity'),
    by_user,
    by_day: datesBetween(from, to).map((date) => ({ date, count: byDate[date] ?? 0 })),
  };
}
