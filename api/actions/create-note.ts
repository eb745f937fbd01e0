import type { z } from 'zod';
import { createNote as create } from '../notes/create-note.js';
import { CreateNote } from '../notes/schema.js';
import type { ActionType } from './contract/action-type.js';

const Params = CreateNote.pick({ title: true, content: true, project_id: true, kind: true });

export const createNote: ActionType<z.output<typeof Params>> = {
  type: 'create_note',
  label: 'Create a note',
  category: 'core',
  params: Params,
  defaulted: ['project_id'],
  async perform(ctx, params, { team_id }) {
    // Without a project the note belongs to the automation's team, not to the creator's default team.
    const { note_id } = await create(ctx, params.project_id == null ? { ...params, team_id } : params);
    return { entity_type: 'note', entity_id: note_id, output: { note_id } };
  },
};
