import type { Context } from '../../../platform/context.js';
import { changeItem } from '../change-item.js';
import { presentNote } from './present.js';
import type { Note, UpdateNote } from './schema.js';

/**
 * Updates the given fields. A null `project_id` takes the note out of its project.
 * @throws RESOURCE_NOT_FOUND no live note or project | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST another team, or a project of another team
 */
export async function updateNote(
  ctx: Context,
  noteId: string,
  { team_id, project_id, version = null, ...patch }: UpdateNote,
): Promise<Note> {
  const target = { itemId: noteId, type: 'note' as const, version, teamId: team_id, projectId: project_id };
  const item = await changeItem(ctx, target, (before) => ({
    title: patch.title ?? before.title,
    content: patch.content ?? before.content,
    kind: patch.kind ?? before.kind,
    description: before.description,
    status: before.status,
    fields: before.fields,
  }));
  return presentNote(item);
}
