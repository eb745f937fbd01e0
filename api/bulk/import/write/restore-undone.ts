import { Project } from '../../../../db/models/project.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { callerJson, type Context } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { dueAgain } from '../../../platform/events/due-people.sql.js';
import { markItems } from '../../../work/graph/mark-for-search.js';
import { moveSubtasks } from '../../../work/tasks/write/move-subtasks.js';
import { getFeature, type StoredType } from '../../../work/items/rules.js';
import { restoreProjectStatement } from '../../trash/restore-project.sql.js';
import type { Batch } from './batch.js';
import type { KnownRecord } from './known-ids.js';

/**
 * $1 = task id, $2 = team id, $3 = cascade id, $4 = project id, live and locked, $5 = caller (jsonb). Restores a task alone: each of its subtasks has its own
 * line. A parent that is still in the trash, or in another project, is cleared.
 */
const taskStatement = defineStatement({
  name: 'restore_undone_task',
  text: /* sql */ `
    update tasks t set deleted_at = null, deleted_by = null, cascade_id = null, version = t.version + 1, due_set_by = ${dueAgain('$5::jsonb')},
      project_id = $4::uuid, parent_task_id = (select p.task_id from tasks p where p.task_id = t.parent_task_id and p.project_id = $4::uuid and p.deleted_at is null)
    where t.task_id = $1 and t.team_id = $2 and t.deleted_at is not null and t.cascade_id = $3
    returning t.project_id, t.title, task_json(t) as json, old.project_id <> t.project_id as has_moved`,
});

/** $1 = item id, $2 = team id, $3 = cascade id. An item of a project in the trash stays there. */
const itemStatement = defineStatement({
  name: 'restore_undone_item',
  text: /* sql */ `
    update items i set deleted_at = null, deleted_by = null, cascade_id = null, version = i.version + 1
    where i.item_id = $1 and i.team_id = $2 and i.deleted_at is not null and i.cascade_id = $3
      and not exists (select from projects p where p.project_id = i.project_id and p.deleted_at is not null)
    returning i.project_id, i.title, null as json`,
});

interface Restored extends Record<string, unknown> {
  project_id: string | null;
  title: string;
  json: unknown;
}

/** Restores a project alone: what was in it has lines of its own, or stays in the trash. */
async function restoreProject(ctx: Context, teamId: string, id: string, cascadeId: string): Promise<Restored | undefined> {
  const project = await Project.query(ctx.db).findById(id).where({ team_id: teamId, cascade_id: cascadeId }).forUpdate();
  if (!project || project.deleted_at === null) return undefined;
  const [row] = await run<{ json: unknown }>(ctx.db, restoreProjectStatement, [id, null, JSON.stringify(callerJson(ctx))]);
  return row && { project_id: id, title: project.name, json: row.json };
}

async function restoreTask(ctx: Context, teamId: string, { id, project_id }: KnownRecord, cascadeId: string) {
  const values = [id, teamId, cascadeId, project_id, JSON.stringify(callerJson(ctx))];
  const [task] = await run<Restored & { has_moved: boolean }>(ctx.db, taskStatement, values);
  if (task?.has_moved) await moveSubtasks(ctx, id, task.project_id as string);
  return task;
}

async function restore(ctx: Context, teamId: string, found: KnownRecord, cascadeId: string): Promise<Restored | undefined> {
  const { id, type } = found;
  if (type === 'project') return restoreProject(ctx, teamId, id, cascadeId);
  if (type === 'task') return restoreTask(ctx, teamId, found, cascadeId);
  const [item] = await run<Restored>(ctx.db, itemStatement, [id, teamId, cascadeId]);
  return item;
}

/**
 * Restores a record that the undo of an earlier import has moved to the trash, if it still lies there from that undo; a task into `found.project_id`.
 * @throws PERMISSION_DENIED | RESOURCE_CONFLICT it was restored, or purged, since it was found
 */
export async function restoreUndone(
  ctx: Context,
  { team_id, seat, job_id }: Pick<Batch, 'team_id' | 'seat' | 'job_id'>,
  found: KnownRecord,
): Promise<void> {
  authorize('trash.restore', seat);
  const { id, undo_id: cascade_id } = found;
  const type = found.type as StoredType | 'task' | 'project';
  if (cascade_id == null) throw new Error(`${id} was not undone`);
  const back = await restore(ctx, team_id, found, cascade_id);
  if (!back)
    throw conflict(`The ${type} was restored or purged meanwhile, or its project is in the trash; import the file again`);
  await markItems(ctx, team_id, [id]);
  const payload = { changes: {}, cascade_id };
  await recordChange(ctx, {
    team_id,
    project_id: back.project_id,
    feature: type === 'task' ? 'tasks' : type === 'project' ? 'projects' : getFeature(type),
    action: 'restore',
    entity_type: type,
    entity_id: id,
    title: back.title,
    summary: `restored the ${type}`,
    details: { cascade_id, restored_count: 1, import_job_id: job_id },
    ...(type === 'task' && { event: { type: 'task.restored' as const, payload: { task: back.json, ...payload } } }),
    ...(type === 'project' && { event: { type: 'project.restored' as const, payload: { project: back.json, ...payload } } }),
  });
}
