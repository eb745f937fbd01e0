import { Project } from '../../../db/models/project.js';
import { run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { callerJson, type Context, inTransaction } from '../../platform/context.js';
import { notInTrash } from '../../platform/errors.js';
import type { Change } from '../../platform/changes/record-change.js';
import { markCascade } from '../../work/graph/mark-for-search.js';
import { enqueueCascade, type Members, recordCascade } from '../../work/graph/record-cascade.js';
import { findSeat } from '../../platform/access/seats.js';
import { restoreProjectStatement } from './restore-project.sql.js';
import type { Restored } from './schema.js';

/**
 * Restores a project with exactly the tasks and items of its deletion (docs/decisions/bulk.md#trash-cascades).
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED non-member or guest
 */
export function restoreProject(ctx: Context, projectId: string): Promise<Restored> {
  return inTransaction(ctx, async (ctx) => {
    const project = await Project.query(ctx.db).findById(projectId).forUpdate();
    if (!project) throw notInTrash('Project');
    authorize('trash.restore', await findSeat(ctx, project.team_id));
    if (project.deleted_at === null) throw notInTrash('Project');
    if (project.cascade_id !== null) await markCascade(ctx, project.cascade_id);
    const [back] = await run<{ json: unknown; restored_at: Date } & Members>(ctx.db, restoreProjectStatement, [
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
