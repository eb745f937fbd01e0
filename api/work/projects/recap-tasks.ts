import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** Tasks that are counted of one project. */
const MOST = 10_000;

/** Counts of a project's tasks: how they are now, and what happened to them in a time. */
interface Recap extends Record<string, unknown> {
  read: number;
  open: number;
  overdue: number;
  in_review: number;
  done: number;
  created: number;
  finished: number;
  /** Closed without being done: canceled, or a duplicate. */
  dropped: number;
}

/** $1 = project id, $2 = from, $3 = to (exclusive), both in ms, $4 = today (`2026-11-20`), $5 = tasks to count; one more tells that there are more. */
const statement = defineStatement({
  name: 'recap_tasks',
  text: /* sql */ `
    select count(*)::int as read, count(*) filter (where status <> 'done')::int as open, count(*) filter (where status <> 'done' and due_date < $4)::int as overdue,
      count(*) filter (where status = 'in_review')::int as in_review, count(*) filter (where status = 'done' and resolution is null)::int as done,
      count(*) filter (where created_at >= at.start and created_at < at.stop)::int as created,
      count(*) filter (where status = 'done' and resolution is null and completed_at >= at.start and completed_at < at.stop)::int as finished,
      count(*) filter (where resolution is not null and completed_at >= at.start and completed_at < at.stop)::int as dropped
    from (select to_timestamp($2::float8 / 1000) as start, to_timestamp($3::float8 / 1000) as stop) at,
      (select * from tasks t where t.project_id = $1 and t.deleted_at is null limit $5::int + 1) t`,
});

/**
 * Counts the live tasks of a project that the caller may read, subtasks too, at most 10,000.
 * @param today day in the caller's time zone
 */
export async function recapTasks(
  { db }: Pick<Context, 'db'>,
  projectId: string,
  { from, to }: { from: number; to: number },
  today: string,
): Promise<Recap & { isCut: boolean }> {
  const [recap] = await run<Recap>(db, statement, [projectId, from, to, today, MOST]);
  const { read = 0 } = recap ?? {};
  return { ...(recap as Recap), read: Math.min(read, MOST), isCut: read > MOST };
}
