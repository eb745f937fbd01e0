import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** Rows that one look at a list of projects counts. */
const MOST_COUNTED = 10_000;

/** The tasks of one project. */
export interface TaskCount {
  open: number;
  done: number;
  /** Open tasks whose due date has passed. */
  overdue: number;
  /** The project has more tasks than were counted. */
  isCut: boolean;
}

/** $1 = project ids, $2 = today (`2026-11-20`), $3 = tasks to count of each project. One more is read, which tells that there are more. */
const statement = defineStatement({
  name: 'count_tasks_of_projects',
  text: /* sql */ `
    select given.project_id, count(*) filter (where t.status <> 'done')::int as open, count(*) filter (where t.status = 'done' and t.resolution is null)::int as done,
      count(*) filter (where t.status <> 'done' and t.due_date < $2)::int as overdue
    from unnest($1::uuid[]) as given(project_id)
    cross join lateral (select t.status, t.resolution, t.due_date from tasks t where t.project_id = given.project_id and t.deleted_at is null
      limit $3::int + 1) t
    group by given.project_id`,
});

/**
 * Counts the live tasks of projects that the caller may read, subtasks too, without those that are canceled or duplicates. All projects together
 * read at most 10,000 rows, so the more projects there are, the fewer tasks of each are counted.
 * @param today day in the caller's time zone
 */
export async function countTasksOfProjects(
  { db }: Pick<Context, 'db'>,
  projectIds: readonly string[],
  today: string,
): Promise<Map<string, TaskCount>> {
  if (projectIds.length === 0) return new Map();
  const most = Math.floor(MOST_COUNTED / projectIds.length);
  const rows = await run<{ project_id: string; open: number; done: number; overdue: number }>(db, statement, [
    projectIds,
    today,
    most,
  ]);
  return new Map(
    rows.map(({ project_id, open, done, overdue }) => [project_id, { open, done, overdue, isCut: open + done > most }] as const),
  );
}
