import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { PROJECT_JSON } from './project-json.js';
import { changesBetween, type ProjectFields } from './rules.js';
import type { ProjectRecord, ProjectWrite } from './schema.js';

const statement = defineStatement({
  name: 'reread_project',
  text: `select ${PROJECT_JSON} as json from projects p where p.project_id = $1 and p.deleted_at is null`,
});

/**
 * Reads a project again in the writing transaction and compares it with the request.
 * @throws Error when they differ: the write is rolled back and never reported as verified
 */
export async function rereadProject(ctx: Context, projectId: string, asked: ProjectFields): Promise<ProjectRecord> {
  const [row] = await run<{ json: ProjectRecord }>(ctx.db, statement, [projectId]);
  if (!row || Object.keys(changesBetween(row.json, asked)).length > 0) {
    throw new Error(`Project ${projectId} does not hold what was written`);
  }
  return row.json;
}

/** Returns the response to a verified write. */
export const verifiedWrite = (action: 'create' | 'update', auditId: string, data: ProjectRecord): ProjectWrite => ({
  action_id: auditId,
  status: 'verified',
  verified: true,
  message: `Project ${action}d`,
  affected_entities: [{ entity_type: 'project', entity_id: data.project_id, action }],
  data,
  rollback_available: true,
  timestamp: new Date().toISOString(),
});
