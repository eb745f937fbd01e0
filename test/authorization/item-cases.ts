import type { Kind, Row } from './row.js';

const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];
const TRASHABLE: Kind[] = ['own', 'foreign', 'trashed', 'unknown', 'garbage', 'respelt'];

/** A list of items: without a filter, by team, by project. */
const listed = (route: string): Row[] => [
  { route, by: 'nothing', subject: 'note', kinds: ['own', 'foreign', 'trashed'], send: () => ({}), list: true },
  {
    route,
    by: 'team_id',
    subject: 'note',
    names: 'team_id',
    kinds: TRASHABLE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    list: true,
  },
  {
    route,
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ query: { project_id: s.id } }),
    lowest: 'guest',
    why: 'the list of one project is for those who may read it',
  },
];

/** A new item: in a team, in a project, in a project of another team than the one given. */
const created = (route: string, body: object): Row[] => [
  { route, by: 'team_id', subject: 'team', kinds: LIVE, send: (s) => ({ body: { ...body, team_id: s.id } }) },
  { route, by: 'project_id', subject: 'project', kinds: TRASHABLE, send: (s) => ({ body: { ...body, project_id: s.id } }) },
];

/** A change of an item: by its id, and by where it is to move. */
const changed = (route: string, param: string): Row[] => [
  {
    route,
    by: param,
    subject: 'note',
    kinds: TRASHABLE,
    send: (s) => ({ params: { [param]: s.id }, body: { title: 'Another' } }),
  },
  {
    route,
    by: 'project_id',
    subject: 'note',
    names: 'project_id',
    kinds: LIVE,
    send: (s) => ({ params: { [param]: s.id }, body: { title: 'Another', project_id: s.project_id } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
    why: 'where an item moves to must be readable to the caller',
  },
  {
    route,
    by: 'team_id',
    subject: 'note',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { [param]: s.id }, body: { title: 'Another', team_id: s.team_id } }),
    reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
    why: 'the team of an item cannot change, whichever the other is',
  },
];

const notes: Row[] = [
  ...listed('GET /api/notes'),
  ...created('POST /api/notes', { title: 'Minutes' }),
  { route: 'GET /api/notes/:note_id', subject: 'note', kinds: TRASHABLE, send: (s) => ({ params: { note_id: s.id } }) },
  ...changed('PATCH /api/notes/:note_id', 'note_id'),
  ...changed('PUT /api/notes/:note_id', 'note_id'),
  { route: 'DELETE /api/notes/:note_id', subject: 'note', kinds: TRASHABLE, send: (s) => ({ params: { note_id: s.id } }) },
];

const item = (method: 'GET' | 'PUT' | 'DELETE', subject: 'task' | 'whiteboard' | 'project'): Row => ({
  route: `${method} /api/work-items/:item_id`,
  by: `${method} of a ${subject}`,
  subject,
  kinds: TRASHABLE,
  send: (s) => ({ params: { item_id: s.id }, ...(method === 'PUT' ? { body: { title: 'Another' } } : {}) }),
});

const workItems: Row[] = [
  ...listed('GET /api/work-items'),
  ...created('POST /api/work-items', { type: 'doc', title: 'Plan' }),
  ...(['GET', 'PUT', 'DELETE'] as const).flatMap((method) => [item(method, 'task'), item(method, 'whiteboard')]),
  item('GET', 'project'),
  ...changed('PUT /api/work-items/:item_id', 'item_id'),
  {
    route: 'POST /api/work-items',
    by: 'project_id of a task',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ body: { type: 'task', title: 'Ship it', project_id: s.id } }),
  },
];

/** What lies in the trash: restored by members, purged by managers. */
const trash = (
  [
    ['note', 'trashedNote'],
    ['file', 'trashedFile'],
    ['whiteboard', 'trashedWhiteboard'],
    ['doc', 'trashedDoc'],
  ] as const
).flatMap(([type, subject]): Row[] => [
  {
    route: `POST /api/trash/${type}/:item_id/restore`,
    subject,
    kinds: LIVE,
    send: (s) => ({ params: { item_id: s.id } }),
  },
  { route: `DELETE /api/trash/${type}/:item_id`, subject, kinds: LIVE, send: (s) => ({ params: { item_id: s.id } }) },
]);

/** Notes, and items of the work graph with their trash. */
export const itemCases: Row[] = [...notes, ...workItems, ...trash];
