import { Project } from '../../../db/models/project.js';
import { run, type Statement } from '../../../db/statement.js';
import { type Context, inTransaction, callerJson } from '../../platform/context.js';
import { wasRolledBack } from '../../platform/database/database-errors.js';
import { BATCH, eraseProject, eraseTasks, type Purge } from './erase.js';
import {
  placesToPurgeStatement,
  projectsToPurgeStatement,
  purgeUntilStatement,
  recordPurgeStatement,
  tasksToPurgeStatement,
} from './purge-before.sql.js';
import { purgeTeamItems, teamsToPurgeStatement } from './purge-items.js';

/** Purges one project in its own commit. Returns the number of items. */
function purgeProject(ctx: Context, projectId: string, { until, cause, allow }: Purge): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    await allow(ctx);
    // Checked again under the lock: it may have been restored or purged in between.
    const project = await Project.query(ctx.db).findById(projectId).where('deleted_at', '<=', until).forUpdate();
    return project ? eraseProject(ctx, project, cause) : 0;
  });
}

/** Purges one batch of a project's tasks in its own commit. Returns their number. */
function purgeTaskBatch(ctx: Context, projectId: string, { until, cause, allow }: Purge): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    await allow(ctx);
    // Restoring a task takes this lock first too.
    if (!(await Project.query(ctx.db).findById(projectId).forUpdate())) return 0;
    const ids = (await run<{ task_id: string }>(ctx.db, tasksToPurgeStatement, [projectId, until])).map(({ task_id }) => task_id);
    if (ids.length === 0) return 0;
    await run(ctx.db, recordPurgeStatement, [JSON.stringify(callerJson(ctx)), cause, ids]);
    await eraseTasks(ctx, ids);
    return ids.length;
  });
}

type Work = (ctx: Context, placeId: string, purge: Purge) => Promise<number>;

/** Calls `work` for each project or team that the statement finds, until none is left. Returns the number of items. */
async function purgeEach(ctx: Context, purge: Purge, statement: Statement, work: Work, failed: Set<string>): Promise<number> {
  for (let purged = 0; ; ) {
    const found = await run<{ place_id: string }>(ctx.db, statement, [purge.until, purge.teamId]);
    const open = found.filter(({ place_id }) => !failed.has(place_id));
    for (const { place_id } of open) {
      try {
        purged += await work(ctx, place_id, purge);
      } catch (error) {
        const { nativeError = error } = error as { nativeError?: unknown };
        if (!purge.onFailure || !wasRolledBack(nativeError)) throw error;
        purge.onFailure(error, place_id);
        failed.add(place_id);
      }
    }
    if (found.length < BATCH || open.length === 0) return purged;
  }
}

async function purgeProjectTasks(ctx: Context, projectId: string, purge: Purge): Promise<number> {
  let purged = 0;
  for (let found = BATCH; found === BATCH; purged += found) found = await purgeTaskBatch(ctx, projectId, purge);
  return purged;
}

/**
 * Permanently deletes everything that has been in the trash for so many days: projects with what they contain, then single tasks, then single
 * notes, files, whiteboards and docs, in separate batches. May be repeated and interrupted. Returns the number of items.
 */
export async function purgeBefore(ctx: Context, { days, ...what }: Omit<Purge, 'until'> & { days: number }): Promise<number> {
  const [{ until }] = (await run<{ until: string }>(ctx.db, purgeUntilStatement, [days])) as [{ until: string }];
  const purge: Purge = { ...what, until };
  const failed = new Set<string>();
  const projects = await purgeEach(ctx, purge, projectsToPurgeStatement, purgeProject, failed);
  const tasks = await purgeEach(ctx, purge, placesToPurgeStatement, purgeProjectTasks, failed);
  return projects + tasks + (await purgeEach(ctx, purge, teamsToPurgeStatement, purgeTeamItems, failed));
}
