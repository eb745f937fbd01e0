import { Project } from '../../../db/models/project.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { conflict, invalid, notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { authorize } from '../../platform/access/access.js';
import { createBulkJob } from '../jobs/create-job.js';
import { listEntities, FILE_DAYS, MAX_FILE_BYTES, MAX_FILES } from '../rules.js';
import type { BulkJobRef, RequestExport } from '../schema.js';

/** @throws RESOURCE_NOT_FOUND no such project | PERMISSION_DENIED | INVALID_REQUEST a project of another team */
async function checkProjects(ctx: Context, teamId: string, ids: readonly string[]): Promise<void> {
  const projects = await Project.query(ctx.db)
    .findByIds([...ids])
    .modify('live');
  if (projects.length < ids.length) throw notFound('Project');
  for (const { team_id } of projects.filter((project) => project.team_id !== teamId)) {
    authorize('project.read', await findSeat(ctx, team_id));
    throw invalid('project_ids must be projects of the team');
  }
}

/** $1 = team id. Files that can be downloaded now. */
const filesStatement = defineStatement({
  name: 'files_of_exports',
  text: /* sql */ `
    select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes
    from bulk_jobs where team_id = $1 and kind = 'export' and status = 'succeeded' and expires_at > now()`,
});

/** @throws RESOURCE_CONFLICT */
async function checkFiles({ db }: Context, teamId: string): Promise<void> {
  const [row] = await run<{ count: number; bytes: number }>(db, filesStatement, [teamId]);
  const { count, bytes } = row ?? { count: 0, bytes: 0 };
  if (count >= MAX_FILES) throw conflict(`The team has ${MAX_FILES} files of exports; each is removed after ${FILE_DAYS} days`);
  if (bytes < MAX_FILE_BYTES) return;
  throw conflict(`The files of the team's exports are 20 GB together; each is removed after ${FILE_DAYS} days`);
}

/**
 * Requests an export: a job that writes a file of the team's data, of one moment.
 * @throws RESOURCE_NOT_FOUND no such team or project | PERMISSION_DENIED below manager | INVALID_REQUEST a project of another team |
 * RESOURCE_CONFLICT too many open jobs, or files
 */
export function requestExport(ctx: Context, { team_id, format, ...wanted }: RequestExport): Promise<BulkJobRef> {
  const entities = listEntities(wanted.entities ?? undefined, format);
  const project_ids = wanted.project_ids ? [...new Set(wanted.project_ids)] : null;
  const details = { format, entities, ...(project_ids ? { projects: project_ids.length } : {}) };
  return createBulkJob(ctx, { team_id, kind: 'export', format, options: { entities, project_ids } }, details, async (ctx) => {
    if (project_ids) await checkProjects(ctx, team_id, project_ids);
    await checkFiles(ctx, team_id);
  });
}
