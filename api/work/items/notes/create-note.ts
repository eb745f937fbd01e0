import type { Context } from '../../../platform/context.js';
import { createItem } from '../create-item.js';
import { presentNote } from './present.js';
import type { CreateNote, Note } from './schema.js';

/**
 * Creates a note in a project, in a team without a project, or in the caller's default team.
 * @throws RESOURCE_NOT_FOUND no such project or team | PERMISSION_DENIED non-member or guest, or no team to write in | INVALID_REQUEST
 * the project belongs to another team
 */
export async function createNote(ctx: Context, { content, kind, ...note }: CreateNote): Promise<Note> {
  return presentNote(
    await createItem(ctx, {
      ...note,
      item_type: 'note',
      content: content ?? '',
      kind: kind ?? 'note',
      description: null,
      status: 'active',
      fields: {},
    }),
  );
}
