import type { Context } from '../../platform/context.js';
import { requireScopeIfStrict } from '../../platform/access/require-scope.js';
import { trashProject } from '../projects/trash-project.js';
import { trashTask } from '../tasks/write/trash-task.js';
import { findWritableItem } from './find-work-item.js';
import type { TrashedWorkItem } from './schema.js';
import { trashItem } from './trash-item.js';

/**
 * Moves an item of any type to the trash, by the operation of its type.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED non-member or guest, or a strict token without the scope of projects
 */
export async function trashWorkItem(ctx: Context, itemId: string): Promise<TrashedWorkItem> {
  const { type } = await findWritableItem(ctx, itemId);
  if (type === 'project') {
    requireScopeIfStrict(ctx, 'projects:write');
    return trashProject(ctx, itemId);
  }
  return type === 'task' ? trashTask(ctx, itemId) : trashItem(ctx, itemId, type);
}
