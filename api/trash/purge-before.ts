import { Project } from '../../db/models/project.js';
import { run, type Statement } from '../../db/statement.js';
import { type Context, inTransaction, callerJson } from '../core/context.js';
import { wasRolledBack } from '../core/database-errors.js';
import { BATCH, type Cause, eraseProject, eraseTasks } from './erase.js';
import { kindOfChange } from '../core/make-change.sql.js';

/** What to delete permanently. */
interface Purge {
  /** Null for every team. */
  teamId: string | null;
  /** Latest deletion time, as PostgreSQL writes it, with microseconds. */
  until: string;
  cause: Cause;
  /** Rejects callers without permission, in the transaction of each batch. */
  allow: (ctx: Context) => Promise<void>;
  /**
   * Called with a project that PostgreSQL refused to delete; the others continue. If absent, the first failure ends the purge.
   */
  onFailure?: (error: unknown, projectId: string) => void;
}

/** $1 = latest deletion time, $2 = team id or null. Both return the oldest first, from the indexes on deleted rows. */
const projectsStatement: Statement = {
  name: 'projects_to_purge',
  text: /* sql */ `
    select project_id from projects where deleted_at <= $1::timestamptz and ($2::uuid is null or team_id = $2)
    order by deleted_at limit ${BATCH}`,
};
const placesStatement: Statement = {
  name: 'places_to_purge',
  text: /* sql */ `
    select distinct project_id from tasks where deleted_at <= $1::timestamptz and ($2::uuid is null or team_id = $2) limit ${BATCH}`,
};

/** $1 = project id, $2 = latest deletion time. Oldest first; tasks of one deletion stay together as far as they fit. */
const tasksStatement: Statement = {
  name: 'tasks_to_purge',
  text: /* sql */ `
    select task_id from tasks where project_id = $1 and deleted_at <= $2::timestamptz
    order by deleted_at, cascade_id, created_at, task_id limit ${BATCH}`,
};

/**
 * $1 = caller (jsonb), $2 = cause, $3 = task ids. Writes one audit entry per deletion that moved some of these tasks; it names
 * the topmost one and counts them. The rows still exist.
 */
const recordStatement: Statement = {
  name: 'record_purge',
  text: /* sql */ `
    with gone as (
      select t.*, exists (select from tasks p where p.task_id = t.parent_task_id and p.task_id = any($3) and p.cascade_id = t.cascade_id) as below
      from tasks t where t.task_id = any($3)
    ), roots as (
      select distinct on (cascade_id) *, count(*) over (partition by cascade_id) as purged_count
      from gone order by cascade_id, below, created_at, task_id
    )
    select record_changes($1::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id,
    severity => 'MEDIUM', ${kindOfChange({ feature: 'tasks', action: 'purge', entityType: 'task' })},
    entity_id => task_id, title => title,
      summary => case when $2::text <> 'retention' then 'purged the task' end,
      details => jsonb_build_object('cause', $2::text, 'title', title, 'cascade_id', cascade_id, 'purged_count', purged_count))))
    from roots`,
};

/** Purges one project in its own commit. Returns the number of items. */
function purgeProject(ctx: Context, projectId: string, { until, cause, allow }: Purge): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    await allow(ctx);
    // Checked again under the lock: it may have been restored or purged in between.
    const project = await Project.query(ctx.db).findById(projectId).whereRaw('deleted_at <= ?::timestamptz', [until]).forUpdate();
    return project ? eraseProject(ctx, project, cause) : 0;
  });
}

/** Purges one batch of a project's tasks in its own commit. Returns their number. */
function purgeTasksOf(ctx: Context, projectId: string, { until, cause, allow }: Purge): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    await allow(ctx);
    // Restoring a task takes this lock first too.
    if (!(await Project.query(ctx.db).findById(projectId).forUpdate())) return 0;
    const ids = (await run<{ task_id: string }>(ctx.db, tasksStatement, [projectId, until])).map(({ task_id }) => task_id);
    if (ids.length === 0) return 0;
    await run(ctx.db, recordStatement, [JSON.stringify(callerJson(ctx)), cause, ids]);
    await eraseTasks(ctx, ids);
    return ids.length;
  });
}

type Work = (ctx: Context, projectId: string, purge: Purge) => Promise<number>;

/** Calls `work` for each project that the statement finds, until none is left. Returns the number of items. */
async function purgeEach(ctx: Context, purge: Purge, statement: Statement, work: Work, failed: Set<string>): Promise<number> {
  for (let purged = 0; ; ) {
    const found = await run<{ project_id: string }>(ctx.db, statement, [purge.until, purge.teamId]);
    const open = found.filter(({ project_id }) => !failed.has(project_id));
    for (const { project_id } of open) {
      try {
        purged += await work(ctx, project_id, purge);
      } catch (error) {
        const { nativeError = error } = error as { nativeError?: unknown };
        if (!purge.onFailure || !wasRolledBack(nativeError)) throw error;
        purge.onFailure(error, project_id);
        failed.add(project_id);
      }
    }
    if (found.length < BATCH || open.length === 0) return purged;
  }
}

async function purgeAllTasksOf(ctx: Context, projectId: string, purge: Purge): Promise<number> {
  let purged = 0;
  for (let found = BATCH; found === BATCH; purged += found) found = await purgeTasksOf(ctx, projectId, purge);
  return purged;
}

/**
 * Permanently deletes everything deleted before a moment: projects with their tasks, then single tasks, in separate batches. May
 * be repeated and interrupted. Returns the number of items.
 */
export async function purgeBefore(ctx: Context, purge: Purge): Promise<number> {
  const failed = new Set<string>();
  const projects = await purgeEach(ctx, purge, projectsStatement, purgeProject, failed);
  return projects + (await purgeEach(ctx, purge, placesStatement, purgeAllTasksOf, failed));
}
