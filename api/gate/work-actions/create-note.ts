import { createNote as create } from '../../work/items/notes/create-note.js';
import { CreateNote } from '../../work/items/notes/schema.js';
import { defineAction, REQUESTED } from './action.js';
import { removeMade } from './undo.js';

export const createNote = defineAction({
  tool: 'note.create',
  kind: 'create',
  entity: 'note',
  schema: CreateNote.strict(),
  references: ['project_id'],
  offered: REQUESTED,
  words: { verb: 'Write note', count: ['new note', 'new notes'], proposal: 'Proposes a new note.' },
  risk: 'low',
  undo: removeMade('note.delete'),
  automation: {
    type: 'create_note',
    label: 'Create a note',
    picks: ['title', 'content', 'project_id', 'kind'],
    defaulted: ['project_id'],
    // Without a project the note belongs to the automation's team, not to the creator's default team.
    complete: (params, { team_id }) => (params['project_id'] == null ? { ...params, team_id } : params),
  },
  async perform(ctx, _id, params) {
    const { note_id } = await create(ctx, params);
    return { made: { entity_type: 'note', entity_id: note_id }, output: { note_id } };
  },
});
