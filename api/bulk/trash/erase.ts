import { ForgeRepository } from '../../../db/models/forge-repository.js';
import { Project } from '../../../db/models/project.js';
import { defineStatement, run, type Statement } from '../../../db/statement.js';
import { unlinkItems } from '../../agent/sessions/end-sessions.js';
import { endAutomationsIn } from '../../automation/definitions/delete-automation-row.js';
import type { Context } from '../../platform/context.js';
import type { Change } from '../../platform/changes/record-change.js';
import { deleteCyclesOfProject } from '../../work/cycles/delete-cycle.js';
import { recordCascade } from '../../work/graph/record-cascade.js';

/** Maximum tasks or items per statement. */
export const BATCH = 500;

/** Why tasks or items were purged, as in the audit entry. */
type Cause = 'purged' | 'emptied' | 'retention';

/** What to delete permanently. */
export interface Purge {
  /** Null for every team. */
  teamId: string | null;
  /** Latest deletion time, as PostgreSQL writes it, with microseconds. */
  until: string;
  cause: Cause;
  /** Rejects callers without permission, in the transaction of each batch. */
  allow: (ctx: Context) => Promise<void>;
  /**
   * Called with a project that PostgreSQL refused to delete, or a team whose items it refused; the others continue. If absent, the first
   * failure ends the purge.
   */
  onFailure?: (error: unknown, placeId: string) => void;
}

/** $1 = ids of items of any type. */
const eraseKeysStatement = defineStatement({
  name: 'erase_item_keys',
  text: 'delete from item_keys where item_id = any($1)',
});

/**
 * $1 = ids of tasks in the trash, of one project that the caller has locked. Deletes dependents first and item keys last, which
 * frees the ids. A remaining subtask from another deletion moves to the top level. Runs, effects, activity and audit entries
 * contain only ids and remain.
 */
const STEPS: Statement[] = [
  ['loose_subtasks', 'update tasks set parent_task_id = null where parent_task_id = any($1) and not task_id = any($1)'],
  ['erase_comments', 'delete from comments where task_id = any($1)'],
  ['erase_notices_of_tasks', 'delete from notifications where item_id = any($1)'],
  ['erase_forge_links', 'delete from forge_links where task_id = any($1)'],
  ['erase_agent_links_of_tasks', 'delete from agent_links where item_id = any($1)'],
  ['erase_tasks', 'delete from tasks where task_id = any($1)'],
].map(([name = '', text = '']) => defineStatement({ name, text }));

/** Permanently deletes tasks and everything that belongs to them alone. Records no audit entry; the caller does. */
export async function eraseTasks(ctx: Context, taskIds: string[]): Promise<void> {
  for (const step of [...STEPS, eraseKeysStatement]) await run(ctx.db, step, [taskIds]);
}

/** $1 = item ids. Deletes the rows of uploaded files, whose teams get their room back. The sweep removes the bytes. */
const ERASE_FILES = /* sql */ `
  with gone as (
    delete from files f using items i where f.item_id = any($1) and i.item_id = f.item_id returning i.team_id, f.size
  ), freed as (
    select team_id, sum(size) as bytes from gone group by team_id
  )
  update team_storage s set bytes = s.bytes - freed.bytes from freed where s.team_id = freed.team_id`;

/** $1 = ids of items in the trash. The keys take relations and free fields along. */
const ITEM_STEPS: Statement[] = [
  ['erase_files', ERASE_FILES],
  ['erase_agent_links_of_items', 'delete from agent_links where item_id = any($1)'],
  ['erase_items', 'delete from items where item_id = any($1)'],
].map(([name = '', text = '']) => defineStatement({ name, text }));

/** Permanently deletes notes, files, whiteboards and docs. Records no audit entry; the caller does. */
export async function eraseItems(ctx: Context, itemIds: string[]): Promise<void> {
  for (const step of [...ITEM_STEPS, eraseKeysStatement]) await run(ctx.db, step, [itemIds]);
}

/** $1 = ids of projects, whose names the notices of their updates quote. */
const eraseNoticesStatement = defineStatement({
  name: 'erase_notices_of_projects',
  text: 'delete from notifications where item_id = any($1)',
});

const someTasksStatement = defineStatement({
  name: 'some_tasks_of_project',
  text: `select task_id as id from tasks where project_id = $1 order by task_id limit ${BATCH}`,
});
const someItemsStatement = defineStatement({
  name: 'some_items_of_project',
  text: `select item_id as id from items where project_id = $1 order by item_id limit ${BATCH}`,
});

/** Permanently deletes a project's rows of one table, in batches. Returns their ids. */
async function eraseInBatches(
  ctx: Context,
  projectId: string,
  statement: Statement,
  erase: (ctx: Context, ids: string[]) => Promise<void>,
): Promise<string[]> {
  for (const erased: string[] = []; ; ) {
    const batch = (await run<{ id: string }>(ctx.db, statement, [projectId])).map(({ id }) => id);
    if (batch.length === 0) return erased;
    await erase(ctx, batch);
    erased.push(...batch);
  }
}

/**
 * Permanently deletes a project in the trash with all its tasks and items, in one transaction. Unbinds its repositories and deletes its
 * automations; their runs remain. The caller has locked the project's row. Returns the number of items.
 */
export async function eraseProject(ctx: Context, project: Project, cause: Cause): Promise<number> {
  const { project_id, team_id, name, cascade_id } = project;
  const task_ids = await eraseInBatches(ctx, project_id, someTasksStatement, eraseTasks);
  const item_ids = await eraseInBatches(ctx, project_id, someItemsStatement, eraseItems);
  const purged = 1 + task_ids.length + item_ids.length;
  const repositories = await ForgeRepository.query(ctx.db).where({ project_id }).delete();
  const automations = await endAutomationsIn(ctx, { project_id });
  await deleteCyclesOfProject(ctx, project_id);
  await unlinkItems(ctx, [project_id]);
  await run(ctx.db, eraseNoticesStatement, [[project_id]]);
  await Project.query(ctx.db).deleteById(project_id);
  await run(ctx.db, eraseKeysStatement, [[project_id]]);
  const change: Change = {
    team_id,
    project_id,
    feature: 'projects',
    action: 'purge',
    severity: 'MEDIUM',
    entity_type: 'project',
    entity_id: project_id,
    title: name,
    ...(cause === 'retention' ? {} : { summary: 'purged the project' }),
    details: { cause, name, cascade_id, purged_count: purged, repositories, automations },
  };
  await recordCascade(ctx, change, { task_ids, item_ids });
  return purged;
}
