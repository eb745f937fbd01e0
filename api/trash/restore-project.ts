import { Project } from '../../db/models/project.js';
import { run, type Statement } from '../../db/statement.js';
import { authorize } from '../core/access.js';
import { callerJson, type Context, inTransaction } from '../core/context.js';
import { notInTrash } from '../core/errors.js';
import type { Change } from '../core/record-change.js';
import { markCascade } from '../graph/mark-for-search.js';
import { enqueueCascade, type Members, recordCascade } from '../graph/record-cascade.js';
import { seatOf } from '../core/seats.js';
import { dueAgain } from '../core/events/due-people.sql.js';
import { PROJECT_JSON } from '../projects/project-json.js';
import type { Restored } from './schema.js';

/**
 * $1 = project id, $2 = its cascade, $3 = caller (jsonb). What was deleted before the project has another cascade and stays in the trash. The
 * schedules of the project's automations go on because of the caller.
 */
const statement: Statement = {
  name: 'restore_project',
  text: /* sql */ `
    with back as (
      update tasks t set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1,
        due_set_by = ${dueAgain('$3::jsonb')}
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning task_id
    ), back_items as (
      update items set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning item_id
    ), armed as (
      update automations set enabled_by = add_people(enabled_by, people_of_caller($3::jsonb))
      where project_id = $1 and is_active and deleted_at is null and trigger_type = 'schedule'
    )
    update projects p set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1 where p.project_id = $1
    returning ${PROJECT_JSON} as json, now() as restored_at,
      array(select task_id from back order by 1) as task_ids, array(select item_id from back_items order by 1) as item_ids`,
};

/**
 * Restores a project with exactly the tasks and items of its deletion (docs/decisions.md#trash-cascades).
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED non-member or guest
 */
export function restoreProject(ctx: Context, projectId: string): Promise<Restored> {
  return inTransaction(ctx, async (ctx) => {
    const project = await Project.query(ctx.db).findById(projectId).forUpdate();
    if (!project) throw notInTrash('Project');
    authorize('trash.restore', await seatOf(ctx, project.team_id));
    if (project.deleted_at === null) throw notInTrash('Project');
    if (project.cascade_id !== null) await markCascade(ctx, project.cascade_id);
    const [back] = await run<{ json: unknown; restored_at: Date } & Members>(ctx.db, statement, [
      projectId,
      project.cascade_id,
      JSON.stringify(callerJson(ctx)),
    ]);
    if (!back) throw new Error(`Project ${projectId} did not come back`);
    const { task_ids, item_ids } = back;
    const restored_count = 1 + task_ids.length + item_ids.length;
    const { team_id, cascade_id } = project;
    const changes = { deleted_at: { from: project.deleted_at, to: null } };
    const change: Change = {
      team_id,
      project_id: projectId,
      feature: 'projects',
      action: 'restore',
      entity_type: 'project',
      entity_id: projectId,
      title: project.name,
      summary: 'restored the project',
      details: { cascade_id, restored_count },
      event: { type: 'project.restored', payload: { project: back.json, changes, cascade_id } },
    };
    await recordCascade(ctx, change, back);
    await enqueueCascade(ctx, 'task.cascade_restored', { cascade_id, team_id, task_ids });
    return {
      message: 'Project restored',
      success: true,
      entity_type: 'project',
      entity_id: projectId,
      restored_at: back.restored_at.toISOString(),
      restored_count,
    };
  });
}
