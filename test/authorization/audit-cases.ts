import type { Row } from './row.js';

const OWN_ONLY = 'only entries of administered teams are there; other ids are unknown';

/** The log of a team's changes. Strangers and lower roles administer no team, so they are refused before any id is looked up. */
export const auditCases: Row[] = [
  { route: 'GET /api/audit/features', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'GET /api/audit/logs', subject: 'team', kinds: ['own'], send: () => ({}), elsewhere: 200 },
  {
    route: 'GET /api/audit/logs/:audit_id',
    subject: 'auditEntry',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { audit_id: s.id } }),
    elsewhere: 404,
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: OWN_ONLY,
  },
  {
    route: 'GET /api/audit/correlate/:correlation_id',
    subject: 'auditEntry',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { correlation_id: s.id } }),
    elsewhere: 200,
    reference: { foreign: 200, unknown: 200, garbage: 200, respelt: 200 },
    why: OWN_ONLY,
  },
  {
    route: 'POST /api/audit/export',
    by: 'nothing',
    subject: 'team',
    kinds: ['own'],
    send: () => ({ body: { format: 'json' } }),
    elsewhere: 200,
  },
  {
    route: 'POST /api/audit/export',
    by: 'team_id',
    subject: 'team',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ body: { format: 'csv', team_id: s.id } }),
    reference: { foreign: 403, unknown: 403, garbage: 403, respelt: 403 },
    why: 'a team that the caller does not administer is refused, whatever it is',
  },
  {
    route: 'GET /api/audit/stats',
    subject: 'team',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ query: { team_id: s.id } }),
    reference: { foreign: 403, unknown: 403, garbage: 403, respelt: 403 },
    why: 'a team that the caller does not administer is refused, whatever it is',
  },
];
