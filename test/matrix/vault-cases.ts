import { v7 as uuidv7 } from 'uuid';
import type { Kind, Row } from './cases.js';

const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];

/** The secrets of a team. */
export const vaultCases: Row[] = [
  {
    route: 'GET /api/automations/secrets',
    subject: 'secret',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
  },
  {
    route: 'POST /api/automations/secrets',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, name: `NEW ${uuidv7()}`, value: 'v' } }),
  },
  {
    route: 'DELETE /api/automations/secrets/:name',
    by: 'team_id',
    subject: 'secret',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { name: s.id }, query: { team_id: s.team_id } }),
  },
  {
    route: 'DELETE /api/automations/secrets/:name',
    by: 'name',
    subject: 'secret',
    kinds: LIVE,
    send: (s) => ({ params: { name: s.id }, query: { team_id: s.team_id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'a name that another team uses is nobody’s here',
  },
];
