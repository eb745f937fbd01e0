import { Project } from '../../db/models/project.js';
import { run, type Statement } from '../../db/statement.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { notInTrash } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { markCascade } from '../graph/mark-for-search.js';
import { seatOf } from '../core/seats.js';
import { PROJECT_JSON } from '../projects/project-json.js';
import type { Restored } from './schema.js';

/** $1 = project id, $2 = its cascade. What was deleted before the project has another cascade and stays in the trash. */
const statement: Statement = {
  name: 'restore_project',
  text: /* sql */ `
    with back as (
      update tasks set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning 1
    ), back_items as (
      update items set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1
      where project_id = $1 and cascade_id = $2 and deleted_at is not null returning 1
    )
    update projects p set deleted_at = null, deleted_by = null, cascade_id = null, version = version + 1 where p.project_id = $1
    returning ${PROJECT_JSON} as json, now() as restored_at,
      1 + (select count(*) from back) + (select count(*) from back_items) as restored`,
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
    const [back] = await run<{ json: unknown; restored_at: Date; restored: number }>(ctx.db, statement, [
      projectId,
      project.cascade_id,
    ]);
    if (!back) throw new Error(`Project ${projectId} did not come back`);
    await recordChange(ctx, {
      team_id: project.team_id,
      project_id: projectId,
      feature: 'projects',
      action: 'restore',
      entity_type: 'project',
      entity_id: projectId,
      title: project.name,
      summary: 'restored the project',
      details: { cascade_id: project.cascade_id, restored_count: back.restored },
      event: {
        type: 'project.updated',
        payload: { project: back.json, changes: { deleted_at: { from: project.deleted_at, to: null } } },
      },
    });
    return {
      message: 'Project restored',
      success: true,
      entity_type: 'project',
      entity_id: projectId,
      restored_at: back.restored_at.toISOString(),
      restored_count: back.restored,
    };
  });
}
