import { LIVE, type Row, TRASHABLE } from './row.js';

const value = (field_id: string, entity_id: string) => ({ field_id, entity_type: 'task', entity_id, value: 'x' });

/** Custom fields and their values. */
export const fieldCases: Row[] = [
  {
    route: 'GET /api/custom-fields',
    subject: 'customField',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    list: true,
  },
  {
    route: 'POST /api/custom-fields',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, name: 'Severity', field_type: 'text', entity_type: 'task' } }),
  },
  {
    route: 'PATCH /api/custom-fields/:field_id',
    subject: 'customField',
    kinds: LIVE,
    send: (s) => ({ params: { field_id: s.id }, body: { name: 'Impact' } }),
  },
  {
    route: 'DELETE /api/custom-fields/:field_id',
    subject: 'customField',
    kinds: LIVE,
    send: (s) => ({ params: { field_id: s.id } }),
  },
  {
    route: 'GET /api/custom-fields/values',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ query: { entity_type: 'task', entity_id: s.id } }),
  },
  {
    route: 'PUT /api/custom-fields/values',
    by: 'field_id',
    subject: 'customField',
    kinds: LIVE,
    send: (s) => ({ body: value(s.id, s.task_id) }),
  },
  {
    route: 'PUT /api/custom-fields/values',
    by: 'entity_id',
    subject: 'customField',
    names: 'task_id',
    kinds: LIVE,
    send: (s) => ({ body: [value(s.id, s.task_id)] }),
    reference: { foreign: 400, unknown: 404, garbage: 404, respelt: 404 },
    why: 'a field is for items of its own team',
  },
];
