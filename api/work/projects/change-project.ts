import { fn } from 'objection';
import { Project } from '../../../db/models/project.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { type Differences, recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { staleVersion } from '../tasks/write/stale-version.js';
import { checkLead } from './check-lead.js';
import { checkOrder } from './project-fields.js';
import { changesBetween, type ProjectFields } from './rules.js';
import type { ProjectWrite } from './schema.js';
import { rereadProject, verifiedWrite } from './verify-written.js';

/** What a change of a project may say beside its fields. */
export interface ProjectTarget {
  /** The project's team; another one is rejected. */
  teamId?: string | undefined;
  /** Version that the caller has read; null accepts any. */
  version?: number | null;
  /** Writes what belongs to the project beside its row, in the same change, and returns its differences. The row is locked by then. */
  beside?: ((ctx: Context) => Promise<Differences>) | undefined;
}

/**
 * Applies `next` to the stored fields. A write without changes leaves an audit entry, whose id is the `action_id` of the response, but no
 * activity or event, and keeps the version.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST an end before the start, a lead outside of the team, or another team
 */
export function changeProject(
  ctx: Context,
  projectId: string,
  { teamId, version: expected = null, beside }: ProjectTarget,
  next: (before: ProjectFields) => ProjectFields,
): Promise<ProjectWrite> {
  return inTransaction(ctx, async (ctx) => {
    const before = await Project.query(ctx.db).findById(projectId).modify('live').forNoKeyUpdate();
    if (!before) throw notFound('Project');
    authorize('project.write', await findSeat(ctx, before.team_id));
    if (teamId !== undefined && teamId !== before.team_id) throw invalid('A project cannot move to another team');
    if (expected !== null && expected !== before.version) {
      throw await staleVersion(ctx, { type: 'project', id: projectId, expected, version: before.version });
    }
    const after = next(before);
    checkOrder(after);
    if (after.lead_id !== before.lead_id) await checkLead(ctx, before.team_id, after.lead_id);
    const changes = { ...changesBetween(before, after), ...(await beside?.(ctx)) };
    const changed = Object.keys(changes);
    const version = before.version + (changed.length > 0 ? 1 : 0);
    if (changed.length > 0) {
      await Project.query(ctx.db)
        .findById(projectId)
        .patch({ ...after, version, updated_at: fn.now() });
    }
    const project = await rereadProject(ctx, projectId, after);
    const auditId = await recordChange(ctx, {
      team_id: before.team_id,
      project_id: projectId,
      feature: 'projects',
      action: 'update',
      entity_type: 'project',
      entity_id: projectId,
      title: after.name,
      details: { changes, version },
      ...(changed.length > 0 && {
        summary: `changed ${changed.join(', ')}`,
        event: { type: 'project.updated', payload: { project, changes } },
      }),
    });
    return verifiedWrite('update', auditId, project);
  });
}
