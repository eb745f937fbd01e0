import type { LiveItem } from '../create-item.js';
import type { Note } from './schema.js';

/** Returns a note as the API shows it. */
export const presentNote = (item: LiveItem): Note => ({
  note_id: item.item_id,
  title: item.title,
  content: item.content ?? '',
  team_id: item.team_id,
  project_id: item.project_id,
  kind: item.kind ?? 'note',
  created_by: item.created_by,
  created_at: item.created_at.toISOString(),
  updated_at: item.updated_at.toISOString(),
  version: item.version,
});
