import type { Context } from '../../../platform/context.js';
import { changeItem } from '../change-item.js';
import { presentNote } from './present.js';
import type { Note, ReplaceNote } from './schema.js';

/**
 * Replaces what the API shows of a note: missing fields are reset to their defaults. What only the work item shows stays.
 * @throws RESOURCE_NOT_FOUND no live note or project | PERMISSION_DENIED non-member or guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST another team, or a project of another team
 */
export async function replaceNote(
  ctx: Context,
  noteId: string,
  { title, content, kind, team_id, project_id = null, version = null }: ReplaceNote,
): Promise<Note> {
  const target = { itemId: noteId, type: 'note' as const, version, teamId: team_id, projectId: project_id };
  const item = await changeItem(ctx, target, ({ description, status, fields }) => ({
    description,
    status,
    fields,
    title,
    content: content ?? '',
    kind: kind ?? 'note',
  }));
  return presentNote(item);
}
