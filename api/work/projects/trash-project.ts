import { Project } from '../../../db/models/project.js';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import type { Change } from '../../platform/changes/record-change.js';
import { markCascade } from '../graph/mark-for-search.js';
import { enqueueCascade, type Members, recordCascade } from '../graph/record-cascade.js';
import { findSeat } from '../../platform/access/seats.js';
import { staleVersion } from '../tasks/write/stale-version.js';
import { PROJECT_JSON } from './project-json.js';
import type { TrashedProject } from './schema.js';
import { newId } from '../../platform/ids.js';

/** $1 = project id, $2 = user id, $3 = cascade id. Trashes every live task and item of the project, then itself. */
const statement = defineStatement({
  name: 'trash_project',
  text: /* sql */ `
    with moved as (
      update tasks set deleted_at = now(), deleted_by = $2, cascade_id = $3, version = version + 1
      where project_id = $1 and deleted_at is null returning task_id
    ), moved_items as (
      update items set deleted_at = now(), deleted_by = $2, cascade_id = $3, version = version + 1
      where project_id = $1 and deleted_at is null returning item_id
    )
    update projects p set deleted_at = now(), deleted_by = $2, cascade_id = $3, version = version + 1 where p.project_id = $1
    returning ${PROJECT_JSON} as json, p.deleted_at,
      array(select task_id from moved order by 1) as task_ids, array(select item_id from moved_items order by 1) as item_ids`,
});

/** Condition for `verified` in the response. */
const verifyStatement = defineStatement({
  name: 'verify_trashed_project',
  text: /* sql */ `
    select 1 from projects p where p.project_id = $1 and p.cascade_id = $2 and p.deleted_at is not null
      and not exists (select from tasks t where t.project_id = $1 and t.deleted_at is null)
      and not exists (select from items i where i.project_id = $1 and i.deleted_at is null)`,
});

/**
 * Moves a project with its live tasks, notes, files, whiteboards and docs to the trash as one cascade; with `version`, only if the project
 * still has it. Its automations pause, because the relay matches only those of live projects.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT stale version
 */
export function trashProject(ctx: Context, projectId: string, version?: number): Promise<TrashedProject> {
  return inTransaction(ctx, async (ctx) => {
    // Creating a task or an item locks the project FOR KEY SHARE until the commit: after this lock, in a separate statement, all of them are
    // visible and none can be added.
    const project = await Project.query(ctx.db).findById(projectId).modify('live').forUpdate();
    if (!project) throw notFound('Project');
    authorize('project.write', await findSeat(ctx, project.team_id));
    if (version !== undefined && version !== project.version) {
      throw await staleVersion(ctx, { type: 'project', id: projectId, expected: version, version: project.version });
    }
    const cascade_id = newId();
    const [moved] = await run<{ json: unknown; deleted_at: Date } & Members>(ctx.db, statement, [
      projectId,
      requireUser(ctx),
      cascade_id,
    ]);
    const [verified] = await run(ctx.db, verifyStatement, [projectId, cascade_id]);
    if (!moved || !verified) throw new Error(`Project ${projectId} is not wholly in the trash`);
    await markCascade(ctx, cascade_id);
    const { task_ids, item_ids } = moved;
    const cascade_count = task_ids.length + item_ids.length;
    const change: Change = {
      team_id: project.team_id,
      project_id: projectId,
      feature: 'projects',
      action: 'delete',
      entity_type: 'project',
      entity_id: projectId,
      title: project.name,
      summary: 'moved the project to the trash',
      details: { cascade_id, cascade_count },
      event: { type: 'project.deleted', payload: { project: moved.json, cascade_id } },
    };
    await recordCascade(ctx, change, moved);
    await enqueueCascade(ctx, 'task.cascade_deleted', { cascade_id, team_id: project.team_id, task_ids });
    return {
      message: 'Project moved to the trash',
      success: true,
      verified: true,
      soft_deleted: true,
      deleted_at: moved.deleted_at.toISOString(),
      restore_url: `/api/trash/project/${projectId}/restore`,
      retention_days: ctx.config.TRASH_RETENTION_DAYS,
      cascade_count,
    };
  });
}
