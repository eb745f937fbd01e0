import { type Row, type Sent, LIVE, TRASHABLE } from './row.js';
import type { Subject } from './subjects.js';

/** What lies in the trash. */
export const trashCases: Row[] = [
  { route: 'GET /api/trash', by: 'nothing', subject: 'trashedTask', kinds: ['own', 'foreign'], send: () => ({}), list: true },
  ...(['team_id', 'project_id'] as const).map(
    (names): Row => ({
      route: 'GET /api/trash',
      by: names,
      subject: 'trashedTask',
      names,
      kinds: LIVE,
      send: (s) => ({ query: { [names]: s[names] } }),
      list: true,
    }),
  ),
  {
    route: 'DELETE /api/trash',
    subject: 'trashedTask',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
  },
  ...(['task', 'project'] as const).flatMap((type): Row[] => {
    const route = `POST /api/trash/${type}/:${type}_id/restore`;
    const purge = `DELETE /api/trash/${type}/:${type}_id`;
    const send = (s: Subject): Sent => ({ params: { [`${type}_id`]: s.id } });
    return [
      { route: purge, by: 'in the trash', subject: type === 'task' ? 'trashedTask' : 'trashedProject', kinds: LIVE, send },
      { route: purge, by: 'live', subject: type, kinds: ['own'], send, reference: { own: 404 }, why: 'not in the trash' },
      { route, by: 'in the trash', subject: type === 'task' ? 'trashedTask' : 'trashedProject', kinds: LIVE, send },
      { route, by: 'live', subject: type, kinds: ['own'], send, reference: { own: 404 }, why: 'nothing to restore' },
    ];
  }),
];

const AUTOMATION = { name: 'Thank you', trigger_type: 'task.created', actions: [] };
const byPath = (s: Subject): Sent => ({ params: { automation_id: s.id } });

/** What changes an automation or starts it has one set of rules: its creator, or a manager of the team. */
const automationWrites = (
  [
    ['PATCH /api/automations/:automation_id', { description: 'Changed' }],
    ['PUT /api/automations/:automation_id', AUTOMATION],
    ['DELETE /api/automations/:automation_id', undefined],
    ['POST /api/automations/:automation_id/execute', {}],
    ['POST /api/automations/:automation_id/test', {}],
    ['POST /api/automations/:automation_id/toggle', { is_active: false }],
    ['POST /api/automations/:automation_id/rollback', { version: 1 }],
  ] as const
).flatMap(([route, body]): Row[] => {
  const send = (s: Subject): Sent => ({ ...byPath(s), body });
  return [
    { route, by: 'one’s own', subject: 'automation', author: 'caller', kinds: TRASHABLE, send },
    {
      route,
      by: 'another’s',
      subject: 'automation',
      author: 'colleague',
      kinds: TRASHABLE,
      send,
      lowest: 'manager',
      why: 'another person’s automation needs a manager',
    },
    {
      route,
      by: 'one’s own personal one',
      subject: 'personalAutomation',
      author: 'caller',
      kinds: ['own'],
      send,
      lowest: 'none',
      why: 'it belongs to no team',
    },
    {
      route,
      by: 'another’s personal one',
      subject: 'personalAutomation',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'nobody',
      why: 'it is its creator’s alone',
    },
  ];
});

const TAKE_OVER = 'POST /api/automations/:automation_id/take-over';
const PROTECTED = 'only team admins change a protected automation, its creator neither';

/** Protected automations: a column of their own for every route that changes one; starting one stays as it is. */
const protectedAutomations: Row[] = [
  ...(
    [
      ['PATCH /api/automations/:automation_id', { description: 'Changed' }],
      ['PUT /api/automations/:automation_id', AUTOMATION],
      ['DELETE /api/automations/:automation_id', undefined],
      ['POST /api/automations/:automation_id/toggle', { is_active: false }],
      ['POST /api/automations/:automation_id/rollback', { version: 1 }],
      [TAKE_OVER, {}],
    ] as const
  ).flatMap(([route, body]) =>
    (['caller', 'colleague'] as const).map(
      (author): Row => ({
        route,
        by: author === 'caller' ? 'one’s own protected' : 'another’s protected',
        subject: 'protectedAutomation',
        author,
        kinds: TRASHABLE,
        send: (s) => ({ ...byPath(s), body }),
        lowest: 'admin',
        // Already one's own: answered, and nothing changes.
        ...(route === TAKE_OVER && author === 'caller' ? { success: 200 } : {}),
        why: PROTECTED,
      }),
    ),
  ),
  ...(['execute', 'test'] as const).map(
    (verb): Row => ({
      route: `POST /api/automations/:automation_id/${verb}`,
      by: 'one’s own protected',
      subject: 'protectedAutomation',
      author: 'caller',
      kinds: ['own'],
      send: (s) => ({ ...byPath(s), body: {} }),
    }),
  ),
  {
    route: 'POST /api/automations',
    by: 'is_protected',
    subject: 'team',
    kinds: ['own'],
    send: (s) => ({ body: { ...AUTOMATION, team_id: s.id, is_protected: true } }),
    lowest: 'admin',
    why: 'only team admins protect',
  },
  {
    route: 'PATCH /api/automations/:automation_id',
    by: 'is_protected',
    subject: 'automation',
    author: 'caller',
    kinds: ['own'],
    send: (s) => ({ ...byPath(s), body: { is_protected: true } }),
    lowest: 'admin',
    why: 'only team admins protect',
  },
  {
    route: 'DELETE /api/trash/project/:project_id',
    by: 'with a protected automation',
    subject: 'projectWithProtected',
    kinds: ['own'],
    send: (s) => ({ params: { project_id: s.id } }),
    lowest: 'admin',
    why: PROTECTED,
  },
];

const takeOvers: Row[] = [
  { route: TAKE_OVER, by: 'another’s', subject: 'automation', author: 'colleague', kinds: TRASHABLE, send: byPath },
  {
    route: TAKE_OVER,
    by: 'one’s own',
    subject: 'automation',
    author: 'caller',
    kinds: ['own'],
    send: byPath,
    success: 200,
    why: 'already one’s own: nothing changes',
  },
  {
    route: TAKE_OVER,
    by: 'another’s with an unrestricted secret',
    subject: 'automationWithSecret',
    author: 'colleague',
    kinds: ['own'],
    send: byPath,
    lowest: 'admin',
    why: 'its creator decides where the secret goes',
  },
  {
    route: TAKE_OVER,
    by: 'another’s personal one',
    subject: 'personalAutomation',
    author: 'colleague',
    kinds: ['own'],
    send: byPath,
    lowest: 'nobody',
    why: 'it is its creator’s alone',
  },
];

const CANCEL = 'POST /api/automations/runs/:run_id/cancel';
const cancelled = (s: Subject): Sent => ({ params: { run_id: s.id } });

/** Ending a run has the rules of starting one. */
export const cancelCases: Row[] = [
  { route: CANCEL, by: 'one’s own', subject: 'runForManager', author: 'caller', kinds: LIVE, send: cancelled },
  {
    route: CANCEL,
    by: 'another’s',
    subject: 'runForManager',
    author: 'colleague',
    kinds: LIVE,
    send: cancelled,
    lowest: 'manager',
    why: 'another person’s automation needs a manager',
  },
  {
    route: CANCEL,
    by: 'another’s personal one',
    subject: 'personalRun',
    author: 'colleague',
    kinds: ['own'],
    send: cancelled,
    lowest: 'nobody',
    why: 'it is its creator’s alone',
  },
  {
    route: CANCEL,
    by: 'one that has ended',
    subject: 'run',
    author: 'caller',
    kinds: ['own'],
    send: cancelled,
    reference: { own: 409 },
    why: 'nothing is left to end',
  },
];

/** Automations, who changes them, and who takes them over. */
export const automationCases: Row[] = [
  { route: 'GET /api/automations/triggers', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'GET /api/automations/actions/types', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'GET /api/automations',
    by: 'nothing',
    subject: 'automation',
    kinds: ['own', 'foreign', 'trashed'],
    send: () => ({}),
    list: true,
  },
  ...(['team_id', 'project_id'] as const).map(
    (names): Row => ({
      route: 'GET /api/automations',
      by: names,
      subject: 'automation',
      names,
      kinds: TRASHABLE,
      send: (s) => ({ query: { [names]: s[names] } }),
      list: true,
    }),
  ),
  {
    route: 'POST /api/automations',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { ...AUTOMATION, team_id: s.id } }),
  },
  {
    route: 'POST /api/automations',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ body: { ...AUTOMATION, project_id: s.id } }),
  },
  {
    route: 'POST /api/automations',
    by: 'nothing',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({ body: AUTOMATION }),
    lowest: 'none',
    why: 'a personal one belongs to no team',
  },
  { route: 'GET /api/automations/:automation_id', by: 'id', subject: 'automation', kinds: TRASHABLE, send: byPath },
  {
    route: 'GET /api/automations/:automation_id',
    by: 'another’s personal one',
    subject: 'personalAutomation',
    author: 'colleague',
    kinds: ['own'],
    send: byPath,
    lowest: 'nobody',
    why: 'it is its creator’s alone',
  },
  ...automationWrites,
  ...protectedAutomations,
  ...takeOvers,
  {
    route: 'PATCH /api/automations/:automation_id',
    by: 'project_id',
    subject: 'automation',
    author: 'caller',
    names: 'project_id',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ ...byPath(s), body: { project_id: s.project_id } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
    why: 'a stranger to the project’s team is refused before its team is compared; 400 is for members of both',
  },
  { route: 'GET /api/automations/:automation_id/runs', subject: 'automation', kinds: TRASHABLE, send: byPath },
  { route: 'GET /api/notifications', subject: 'notification', kinds: ['own', 'foreign'], send: () => ({}), list: true },
  { route: 'POST /api/notifications/read', subject: 'nothing', kinds: ['own'], send: () => ({ body: {} }) },
  { route: 'GET /api/notifications/settings', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'PUT /api/notifications/settings', subject: 'nothing', kinds: ['own'], send: () => ({ body: { mail: 'daily' } }) },
  {
    route: 'PATCH /api/notifications/:notification_id',
    subject: 'ownNotification',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { notification_id: s.id }, body: { read: true } }),
  },
  {
    route: 'PATCH /api/notifications/:notification_id',
    by: 'somebody else',
    subject: 'ownNotification',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { notification_id: s.id }, body: { read: true } }),
    outcome: { own: 404 },
    why: 'what another person was told is not there',
  },
  { route: 'GET /api/automations/:automation_id/versions', subject: 'automation', kinds: TRASHABLE, send: byPath },
  {
    route: 'GET /api/automations/:automation_id/versions/:version',
    by: 'automation_id',
    subject: 'automation',
    kinds: TRASHABLE,
    send: (s) => ({ params: { automation_id: s.id, version: '1' } }),
  },
  {
    route: 'GET /api/automations/:automation_id/versions/:version',
    by: 'another’s personal one',
    subject: 'personalAutomation',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { automation_id: s.id, version: '1' } }),
    lowest: 'nobody',
    why: 'it is its creator’s alone',
  },
  {
    route: 'GET /api/automations/runs/:run_id',
    by: 'id',
    subject: 'run',
    kinds: LIVE,
    send: (s) => ({ params: { run_id: s.id } }),
  },
];
