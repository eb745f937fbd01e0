import { defineStatement, run } from '../../../../../db/statement.js';
import { rolesFor } from '../../../../platform/access/access.js';
import { type Context, requireUser } from '../../../../platform/context.js';
import { dayIn, nextDue } from '../next-date.js';
import { END_WORDS } from '../rules.js';
import type { Series } from './series.js';

/** $1 = task id, $2 = caller id, $3 = roles that may read. The series of a live task. */
const seriesOfTaskStatement = defineStatement({
  name: 'series_of_task',
  text: /* sql */ `
    select s.recurrence, s.anchor, s.started_at, s.last_index, s.last_task_id, s.blocked_reason, s.ended_at, s.end_reason, t.due_date
    from tasks t join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
    join task_series s on s.series_id = t.series_id where t.task_id = $1 and t.deleted_at is null`,
});

type Row = Pick<
  Series,
  'recurrence' | 'anchor' | 'started_at' | 'last_index' | 'last_task_id' | 'blocked_reason' | 'ended_at' | 'end_reason'
> & { due_date: string | null };

/** What follows a task of a series. `continued`: a newer occurrence exists. */
export type SeriesState =
  | { state: 'next'; due: string }
  | { state: 'continued'; taskId: string | null }
  | { state: 'stopped'; reason: string };

/**
 * Reads what follows an occurrence of a recurring task; null for a task without a series, or that the caller may not read. The due date is that of
 * an occurrence created now: a late one of a series by schedule is skipped.
 */
export async function readSeries(ctx: Context, taskId: string): Promise<SeriesState | null> {
  const [row] = await run<Row & Record<string, unknown>>(ctx.db, seriesOfTaskStatement, [
    taskId,
    requireUser(ctx),
    rolesFor('task.read'),
  ]);
  if (!row) return null;
  if (row.ended_at) return { state: 'stopped', reason: row.end_reason ? END_WORDS[row.end_reason] : 'it ended' };
  if (row.last_task_id !== taskId) return { state: 'continued', taskId: row.last_task_id };
  if (row.blocked_reason !== null) return { state: 'stopped', reason: row.blocked_reason };
  const { recurrence, last_index } = row;
  if (recurrence.count !== null && last_index >= recurrence.count) return { state: 'stopped', reason: END_WORDS.count };
  const after = row.due_date ?? dayIn(recurrence.timezone, row.started_at);
  const next = nextDue({ recurrence, anchor: row.anchor ?? after }, after);
  return 'due' in next ? { state: 'next', due: next.due } : { state: 'stopped', reason: END_WORDS[next.none] };
}
