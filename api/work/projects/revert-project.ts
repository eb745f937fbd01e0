import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { changesOfVersion, valuesBefore } from '../graph/changes-of-version.js';
import { UpdateProject } from './schema.js';
import { updateProject } from './update-project.js';

/**
 * Gives a project the values that it had before the change that led to `version`, through `updateProject`, if it still has this version.
 * @throws the errors of `updateProject` | RESOURCE_CONFLICT also for a version that no known change led to
 */
export async function revertProject(ctx: Context, projectId: string, version: number): Promise<void> {
  const changes = await changesOfVersion(ctx, { type: 'project', id: projectId, version });
  const before = changes ? valuesBefore(changes, (field) => field in UpdateProject.shape) : {};
  await updateProject(ctx, projectId, before as UpdateProject, { version });
  if (Object.keys(before).length === 0) throw conflict('The change cannot be undone: its earlier values are not known');
}
