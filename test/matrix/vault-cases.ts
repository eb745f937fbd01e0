import { v7 as uuidv7 } from 'uuid';
import type { Kind, Row } from './cases.js';

const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];

/** The secrets of a team, and people's connections to other services. */
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
  { route: 'GET /api/integrations', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'POST /api/integrations/:key/connect',
    subject: 'connection',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ params: { key: s.id }, body: {} }),
  },
  {
    route: 'GET /api/integrations/:key/callback',
    subject: 'connection',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ params: { key: s.id }, query: { state: 'nobody-began-this', code: 'x' } }),
    public: { own: 400, unknown: 404, garbage: 404 },
  },
  {
    route: 'DELETE /api/integrations/:key',
    subject: 'connection',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ params: { key: s.id } }),
  },
];
