import { FORM_TYPE, buildForm } from '../api/work/items/files/world.js';
import { LIVE, type Row, TRASHABLE } from './row.js';

const FILE = { name: 'file', filename: 'a.txt', content: 'a' };

/** An upload with these fields. */
const form = (fields: Record<string, string>) => ({
  raw: buildForm([...Object.entries(fields).map(([name, content]) => ({ name, content })), FILE]).toString(),
  headers: { 'content-type': FORM_TYPE },
});

/** Uploaded files. */
export const fileCases: Row[] = [
  { route: 'POST /api/files', by: 'team_id', subject: 'team', kinds: LIVE, send: (s) => form({ team_id: s.id }) },
  {
    route: 'POST /api/files',
    by: 'team_id of the query',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ ...form({}), query: { team_id: s.id } }),
  },
  {
    route: 'POST /api/files',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => form({ team_id: s.team_id, project_id: s.id }),
  },
  { route: 'GET /api/files/:file_id', subject: 'uploadedFile', kinds: TRASHABLE, send: (s) => ({ params: { file_id: s.id } }) },
  {
    route: 'DELETE /api/files/:file_id',
    subject: 'uploadedFile',
    kinds: TRASHABLE,
    send: (s) => ({ params: { file_id: s.id } }),
  },
];
