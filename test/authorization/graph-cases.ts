import type { Kind, Row } from './row.js';

const TRASHABLE: Kind[] = ['own', 'foreign', 'trashed', 'unknown', 'garbage', 'respelt'];

const ofItem = ['relations', 'children', 'parents'].map(
  (path): Row => ({
    route: `GET /api/work-items/:item_id/${path}`,
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ params: { item_id: s.id } }),
  }),
);

/** The work graph: items of every type and the edges between them. */
export const graphCases: Row[] = [
  ...ofItem,
  {
    route: 'GET /api/work-items/cycle-time',
    by: 'team_id',
    subject: 'team',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ query: { team_id: s.id } }),
  },
  {
    route: 'GET /api/work-items/cycle-time',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ query: { project_id: s.id } }),
  },
  {
    route: 'POST /api/work-items/relations',
    by: 'source_id',
    subject: 'relation',
    names: 'task_id',
    kinds: TRASHABLE,
    send: (s) => ({ body: { source_id: s.task_id, target_id: s.project_id, relation_type: 'attached_to' } }),
  },
  {
    route: 'POST /api/search',
    subject: 'task',
    kinds: ['own', 'foreign', 'trashed'],
    // The response repeats the query: in upper case it does not hold the title.
    send: (s) => ({ body: { query: s.canary.toUpperCase() } }),
    list: true,
  },
  {
    route: 'GET /api/ai-workspace/search',
    subject: 'task',
    kinds: ['own', 'foreign', 'trashed'],
    send: (s) => ({ query: { q: s.canary } }),
    list: true,
  },
  {
    route: 'DELETE /api/work-items/relations/:relation_id',
    subject: 'relation',
    kinds: TRASHABLE,
    send: (s) => ({ params: { relation_id: s.id } }),
    once: true,
  },
];
