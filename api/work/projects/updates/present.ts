import type { ProjectUpdate } from '../../../../db/models/project-update.js';
import type { ProjectUpdateRecord } from './schema.js';

/** Returns an update as the API shows it. */
export const presentUpdate = (row: ProjectUpdate): ProjectUpdateRecord => ({
  update_id: row.update_id,
  project_id: row.project_id,
  health: row.health,
  content: row.content,
  author_id: row.author_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  edited: row.edited,
});
