import { stored } from '../declare.js';
import { Note, TASK, TEAM } from './shapes.js';

export const NOTE = {
  note_id: '0197a000-0000-7000-8000-000000000006',
  title: 'What we decided on Monday',
  team_id: TEAM,
  project_id: TASK.project_id,
  kind: 'note',
};

export const noteEvents = {
  'note.created': stored({
    payload: { note: Note },
    trigger: 'A note is created',
    past: 'A note was created',
    webhook: true,
    sample: { note: NOTE },
  }),
};
