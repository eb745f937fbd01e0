import { v7 as uuidv7 } from 'uuid';
import { LIVE, type Row } from './row.js';

/** Stages of the tasks of a team. */
export const stageCases: Row[] = [
  {
    route: 'GET /api/stages',
    subject: 'stage',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    list: true,
  },
  {
    route: 'POST /api/stages',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, name: uuidv7(), status: 'in_review' } }),
  },
  {
    route: 'PATCH /api/stages/:stage_id',
    subject: 'stage',
    kinds: LIVE,
    send: (s) => ({ params: { stage_id: s.id }, body: { name: uuidv7() } }),
  },
  {
    route: 'DELETE /api/stages/:stage_id',
    subject: 'stage',
    kinds: LIVE,
    send: (s) => ({ params: { stage_id: s.id } }),
  },
];
