import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import type { CYCLE_STATUSES } from '../../work/cycles/rules.js';
import { findJob } from './read-jobs.js';

/** Projects, and cycles, that are read at most; tasks, whose projects count too. */
const MAX_LISTED = 50;
const MAX_TASKS = 2_000;

/**
 * $1 = job id, $2 = team id, $3 = most projects, and most cycles, $4 = most tasks that are looked at. Live projects in which the import has created something,
 * and cycles that it has created.
 */
const statement = defineStatement({
  name: 'made_by_import',
  text: /* sql */ `
    with made as (
      select r.entity, r.item_id from bulk_rows r where r.job_id = $1 and r.entity = 'task' and r.outcome = 'created' limit $4::integer
    ), places as (
      select t.project_id from made m join tasks t on t.task_id = m.item_id and t.team_id = $2 and t.deleted_at is null
      union
      select r.item_id::uuid from bulk_rows r where r.job_id = $1 and r.entity = 'project' and r.outcome = 'created'
    )
    (select 'project' as kind, p.project_id as id, p.name, null as status from projects p
      where p.project_id in (select project_id from places) and p.team_id = $2 and p.deleted_at is null
      order by p.name, p.project_id limit $3::integer)
    union all
    (select 'cycle', c.cycle_id, c.name, c.status from cycles c
      where c.team_id = $2 and c.cycle_id in (
        select r.item_id::uuid from bulk_rows r where r.job_id = $1 and r.entity = 'cycle' and r.outcome = 'created'
      )
      order by c.start_date desc nulls last, c.cycle_id limit $3::integer)`,
});

interface Made extends Record<string, unknown> {
  kind: 'project' | 'cycle';
  id: string;
  name: string;
  /** Of a cycle. */
  status: (typeof CYCLE_STATUSES)[number] | null;
}

/**
 * Returns where the records of an import are: up to 50 projects by their names, and up to 50 cycles, the latest first.
 * @throws RESOURCE_NOT_FOUND no such job | PERMISSION_DENIED below manager
 */
export async function readMade(ctx: Context, jobId: string): Promise<{ projects: Made[]; cycles: Made[] }> {
  const { team_id } = await findJob(ctx, 'bulk.read', jobId);
  const rows = await run<Made>(ctx.db, statement, [jobId, team_id, MAX_LISTED, MAX_TASKS]);
  const of = (kind: Made['kind']) => rows.filter((row) => row.kind === kind);
  return { projects: of('project'), cycles: of('cycle') };
}
