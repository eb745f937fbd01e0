import { v7 as uuidv7 } from 'uuid';
import type { Kind, Row } from './row.js';
import { getSecretName, sendingSecret } from './subjects.js';

const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];

const definition = (id: string) => ({ name: 'Tell', trigger_type: 'task.created', actions: [sendingSecret(getSecretName(id))] });
const UNRESTRICTED = 'a secret without allowed hosts goes where a team admin sends it';

/** What saves, starts or enables a definition with an unrestricted secret is for team admins, also to the member who wrote it. */
const unrestricted = (
  [
    ['PATCH /api/automations/:automation_id', () => ({ description: 'Changed' })],
    ['PUT /api/automations/:automation_id', definition],
    ['POST /api/automations/:automation_id/execute', () => ({})],
    ['POST /api/automations/:automation_id/test', () => ({})],
    ['POST /api/automations/:automation_id/toggle', () => ({ is_active: true })],
    ['POST /api/automations/:automation_id/rollback', () => ({ version: 1 })],
  ] as const
).flatMap(([route, body]): Row[] =>
  (['caller', 'colleague'] as const).map((author) => ({
    route,
    by: `an unrestricted secret, author: ${author}`,
    subject: 'automationWithSecret',
    author,
    kinds: LIVE,
    send: (s) => ({ params: { automation_id: s.id }, body: body(s.id) }),
    lowest: 'admin',
    why: UNRESTRICTED,
  })),
);

/** What stops it is not. */
const stopping = (
  [
    ['POST /api/automations/:automation_id/toggle', { is_active: false }],
    ['DELETE /api/automations/:automation_id', undefined],
  ] as const
).map(
  ([route, body]): Row => ({
    route,
    by: 'an unrestricted secret, to stop it',
    subject: 'automationWithSecret',
    author: 'caller',
    kinds: ['own'],
    send: (s) => ({ params: { automation_id: s.id }, body }),
  }),
);

/** The secrets of a team, what holds them, and people's connections to other services. */
export const vaultCases: Row[] = [
  ...unrestricted,
  ...stopping,
  {
    route: 'POST /api/automations',
    by: 'an unrestricted secret',
    subject: 'automationWithSecret',
    kinds: ['own'],
    send: (s) => ({ body: { ...definition(s.id), team_id: s.team_id } }),
    lowest: 'admin',
    why: UNRESTRICTED,
  },
  {
    route: 'POST /api/automations/dead-letter/:run_id/retry',
    by: 'an unrestricted secret',
    subject: 'failedRunWithSecret',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: { run_id: s.id } }),
    lowest: 'admin',
    why: UNRESTRICTED,
  },
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
