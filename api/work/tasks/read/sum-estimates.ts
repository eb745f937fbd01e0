import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { IS_LEAF } from './leaf.sql.js';

/** Tasks that one look reads; a cycle has no more. */
const MOST = 10_000;

/** Points of some tasks, without those that are canceled or duplicates. */
export interface Estimates {
  /** Each estimate counts, also that of a task with subtasks. */
  scope: number;
  completed: number;
  /** Open tasks without an estimate that have no subtasks. */
  without: number;
}

/** $1 = id, $2 = tasks to read; one more tells that there are more. Those without an estimate are counted only where others have one. */
const statementOf = (column: 'project_id' | 'cycle_id') =>
  defineStatement({
    name: `sum_estimates_by_${column}`,
    text: /* sql */ `
    with read as materialized (
      select t.task_id, t.status, t.resolution, t.estimate from tasks t where t.${column} = $1 and t.deleted_at is null limit $2::int + 1
    )
    select s.*, case when s.scope is not null then
        (select count(*)::int from read t where t.estimate is null and t.status <> 'done' and ${IS_LEAF}) end as without
    from (
      select count(*)::int as read, sum(estimate) filter (where resolution is null)::int as scope,
        coalesce(sum(estimate) filter (where status = 'done' and resolution is null), 0)::int as completed from read
    ) s`,
  });
const ofProject = statementOf('project_id');
const ofCycle = statementOf('cycle_id');

/** Adds up the estimates of a project or a cycle that the caller may read; undefined where no task is estimated, or there are more than 10,000. */
export async function sumEstimates(
  { db }: Pick<Context, 'db'>,
  of: { project_id: string } | { cycle_id: string },
): Promise<Estimates | undefined> {
  type Row = { read: number; scope: number | null; completed: number; without: number | null };
  const [statement, id] = 'project_id' in of ? [ofProject, of.project_id] : [ofCycle, of.cycle_id];
  const [row] = await run<Row & Record<string, unknown>>(db, statement, [id, MOST]);
  if (!row || row.scope === null || row.read > MOST) return undefined;
  return { scope: row.scope, completed: row.completed, without: row.without ?? 0 };
}
