import { v7 as uuidv7 } from 'uuid';
import type { Seat } from '../../api/core/access.js';
import { accounts } from './account-cases.js';
import { graphCases } from './graph-cases.js';
import type { Subject, SubjectType } from './subjects.js';
import { vaultCases } from './vault-cases.js';

/**
 * How the id stands to the caller's team: its own, another tenant's, in the trash, well-formed but nobody's, malformed, or the own
 * one in another spelling that PostgreSQL would take for the same.
 */
export type Kind = 'own' | 'foreign' | 'trashed' | 'unknown' | 'garbage' | 'respelt';

interface OutboundResult {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  raw?: string;
  headers?: Record<string, string>;
}

/** One way of calling one route. Whatever it does not say follows from api/core/access.ts and the rules of the house (expected.ts). */
export interface Row {
  /** Method and path as the route declares them. */
  route: string;
  /** Which part of the request names the subject, where a route has several. */
  by?: string;
  subject: SubjectType;
  /** The field of the subject that is made foreign, unknown, garbage …; `id` unless said otherwise. */
  names?: Exclude<keyof Subject, 'credential'>;
  kinds: Kind[];
  send: (subject: Subject) => OutboundResult;
  /** Creator of the subject: the caller (strangers and guests too, from a former role), or a second member. */
  author?: 'caller' | 'colleague';
  /** Another seat than the table's, where its words say more than its column. `nobody`: not even an admin. `none`: any signed-in person. */
  lowest?: Seat | 'none' | 'nobody';
  /** The installation's admin may too, without a seat and for any team, but never by a token. */
  instanceAdmin?: true;
  /** The same status for everybody who is signed in, by kind. */
  outcome?: Partial<Record<Kind, number>>;
  /** Status where it is not the declared one of success. */
  success?: number;
  /** The subject is a second id of a resource of the caller's own team: status by kind, once the caller may at all. */
  reference?: Partial<Record<Kind, number>>;
  /** Never refused for its team: 200 with the subject in it for its team's seats, and without it for everybody else. */
  list?: true;
  /** Impersonators are skipped, with the place of a separate test: the call would end the session that the other rows need. */
  sparesImpersonator?: string;
  /** Asks for no credential, so every caller gets the same. */
  public?: Partial<Record<Kind, number>>;
  /** A success uses its subject up, so that every call gets one of its own. */
  once?: true;
  /** A refusal that is meant to leave something behind, and why. */
  leaves?: string;
  /** Why it departs from the rules. */
  why?: string;
}

const LIVE: Kind[] = ['own', 'foreign', 'unknown', 'garbage', 'respelt'];
const TRASHABLE: Kind[] = ['own', 'foreign', 'trashed', 'unknown', 'garbage', 'respelt'];

const auth: Row[] = [
  {
    route: 'POST /api/auth/login',
    subject: 'account',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ body: { email: s.id, password: s.canary } }),
    public: { own: 200, unknown: 401, garbage: 401 },
    leaves: 'the audit entry of a refused sign-in',
  },
  { route: 'GET /api/auth/me', subject: 'nothing', kinds: ['own'], send: () => ({}) },
];

const tokens: Row[] = [
  {
    route: 'POST /api/auth/tokens',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({ body: { name: 'CI', scopes: ['tasks:read'] } }),
  },
  { route: 'GET /api/auth/tokens', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'GET /api/auth/tokens/scopes', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'DELETE /api/auth/tokens/:token_id',
    subject: 'personalToken',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { token_id: s.id } }),
  },
  {
    route: 'DELETE /api/auth/tokens/:token_id',
    by: 'somebody else',
    subject: 'personalToken',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { token_id: s.id } }),
    outcome: { own: 404 },
    why: 'another person’s token is none',
  },
];

const teams: Row[] = [
  { route: 'GET /api/teams', subject: 'team', kinds: ['own', 'foreign'], send: () => ({}), list: true },
  { route: 'POST /api/teams', subject: 'nothing', kinds: ['own'], send: () => ({ body: { name: 'Acme' } }) },
  { route: 'GET /api/teams/:team_id', subject: 'team', kinds: LIVE, send: (s) => ({ params: { team_id: s.id } }) },
  {
    route: 'PATCH /api/teams/:team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.id }, body: { description: `Anvils ${uuidv7()}` } }),
  },
  { route: 'DELETE /api/teams/:team_id', subject: 'spareTeam', kinds: TRASHABLE, send: (s) => ({ params: { team_id: s.id } }) },
  { route: 'GET /api/teams/:team_id/conversations', subject: 'team', kinds: LIVE, send: (s) => ({ params: { team_id: s.id } }) },
  { route: 'GET /api/teams/:team_id/members', subject: 'team', kinds: LIVE, send: (s) => ({ params: { team_id: s.id } }) },
  {
    route: 'POST /api/teams/:team_id/members',
    by: 'team_id',
    subject: 'outsider',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.team_id }, body: { user_id: s.id } }),
  },
  {
    route: 'POST /api/teams/:team_id/members',
    by: 'user_id',
    subject: 'outsider',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { team_id: s.team_id }, body: { user_id: s.id } }),
    reference: { unknown: 404, garbage: 404, respelt: 404 },
  },
  {
    route: 'PATCH /api/teams/:team_id/members/:user_id',
    by: 'team_id',
    subject: 'member',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.team_id, user_id: s.id }, body: { role: 'manager' } }),
  },
  {
    route: 'PATCH /api/teams/:team_id/members/:user_id',
    by: 'user_id',
    subject: 'outsider',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { team_id: s.team_id, user_id: s.id }, body: { role: 'manager' } }),
    reference: { own: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'nobody here has a seat in the team',
  },
  {
    route: 'DELETE /api/teams/:team_id/members/:user_id',
    by: 'team_id',
    subject: 'member',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.team_id, user_id: s.id } }),
    lowest: 'admin',
    why: 'another person’s seat; the table’s `member` is for one’s own',
  },
  {
    route: 'DELETE /api/teams/:team_id/members/:user_id',
    by: 'user_id',
    subject: 'outsider',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { team_id: s.team_id, user_id: s.id } }),
    lowest: 'admin',
    reference: { own: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'nobody here has a seat in the team',
  },
];

const invitations: Row[] = [
  { route: 'GET /api/teams/:team_id/invitations', subject: 'team', kinds: LIVE, send: (s) => ({ params: { team_id: s.id } }) },
  {
    route: 'DELETE /api/teams/:team_id/invitations/:invitation_id',
    by: 'team_id',
    subject: 'invitation',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.team_id, invitation_id: s.id } }),
  },
  {
    route: 'DELETE /api/teams/:team_id/invitations/:invitation_id',
    by: 'invitation_id',
    subject: 'invitation',
    kinds: LIVE,
    send: (s) => ({ params: { team_id: s.team_id, invitation_id: s.id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
  },
  { route: 'GET /api/invitations', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'POST /api/invitations/:invitation_id/accept',
    subject: 'ownInvitation',
    author: 'caller',
    kinds: ['own', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { invitation_id: s.id } }),
  },
  {
    route: 'POST /api/invitations/:invitation_id/accept',
    by: 'somebody else',
    subject: 'ownInvitation',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { invitation_id: s.id } }),
    outcome: { own: 404 },
    why: 'an invitation of another address is none',
  },
];

const STATUS_BODY = { status: 'in_review' };

const tasks: Row[] = [
  { route: 'GET /api/tasks', by: 'nothing', subject: 'task', kinds: ['own', 'foreign', 'trashed'], send: () => ({}), list: true },
  {
    route: 'GET /api/tasks',
    by: 'team_id',
    subject: 'task',
    names: 'team_id',
    kinds: TRASHABLE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    list: true,
  },
  {
    route: 'GET /api/tasks',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ query: { project_id: s.id } }),
  },
  {
    route: 'GET /api/tasks/my',
    subject: 'task',
    author: 'caller',
    kinds: ['own', 'foreign', 'trashed'],
    send: () => ({}),
    list: true,
    why: 'the factory assigns a task to its author, whether or not that person still has a seat',
  },
  {
    route: 'POST /api/tasks',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ body: { title: 'Ship it', project_id: s.id } }),
  },
  {
    route: 'POST /api/tasks',
    by: 'parent_task_id',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ body: { title: 'Ship it', project_id: s.project_id, parent_task_id: s.id } }),
    reference: { foreign: 400, trashed: 404, unknown: 404, garbage: 404, respelt: 404 },
  },
  {
    route: 'POST /api/tasks',
    by: 'assigned_to',
    subject: 'member',
    kinds: LIVE,
    send: (s) => ({ body: { title: 'Ship it', project_id: s.project_id, assigned_to: s.id } }),
    reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
    why: 'contract: a person outside the project’s team gives 400',
  },
  {
    route: 'POST /api/tasks',
    by: 'task_id',
    subject: 'task',
    kinds: ['own', 'foreign', 'trashed'],
    send: (s) => ({ body: { title: 'Again', project_id: s.project_id, task_id: s.id } }),
    success: 200,
    reference: { foreign: 409, trashed: 409 },
    why: 'a repeated create answers with the stored task; a guest must not use it as a side door',
  },
  {
    route: 'POST /api/tasks/bulk',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ query: { atomic: 'true' }, body: [{ title: 'Ship it', project_id: s.id }] }),
    why: 'all or nothing, so that the refusal of the only item is the answer’s',
  },
  {
    route: 'POST /api/tasks/bulk',
    by: 'project_id of a bad item',
    subject: 'project',
    kinds: ['own', 'foreign'],
    send: (s) => ({ body: [{ title: 7, project_id: s.id }] }),
    success: 200,
    why: 'what is wrong with an item does not hide whose project it is about',
  },
  {
    route: 'POST /api/tasks/bulk',
    by: 'parent_task_id',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ query: { atomic: 'true' }, body: [{ title: 'Ship it', project_id: s.project_id, parent_task_id: s.id }] }),
    reference: { foreign: 400, trashed: 404, unknown: 404, garbage: 404, respelt: 404 },
  },
  {
    route: 'POST /api/tasks/bulk',
    by: 'assigned_to',
    subject: 'member',
    kinds: LIVE,
    send: (s) => ({ query: { atomic: 'true' }, body: [{ title: 'Ship it', project_id: s.project_id, assigned_to: s.id }] }),
    reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
  },
  {
    route: 'POST /api/tasks/bulk',
    by: 'task_id',
    subject: 'task',
    kinds: ['own', 'foreign', 'trashed'],
    send: (s) => ({ query: { atomic: 'true' }, body: [{ title: 'Again', project_id: s.project_id, task_id: s.id }] }),
    success: 200,
    reference: { foreign: 409, trashed: 409 },
    why: 'a repeated create answers with the stored task; a guest must not use it as a side door',
  },
  { route: 'GET /api/tasks/:task_id', subject: 'task', kinds: TRASHABLE, send: (s) => ({ params: { task_id: s.id } }) },
  ...(['PATCH', 'PUT'] as const).flatMap((method): Row[] => [
    {
      route: `${method} /api/tasks/:task_id`,
      by: 'task_id',
      subject: 'task',
      kinds: TRASHABLE,
      send: (s) => ({ params: { task_id: s.id }, body: { title: 'Another' } }),
    },
    {
      route: `${method} /api/tasks/:task_id`,
      by: 'project_id',
      subject: 'task',
      names: 'project_id',
      kinds: LIVE,
      send: (s) => ({ params: { task_id: s.id }, body: { title: 'Another', project_id: s.project_id } }),
      reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
      why: 'where a task moves to must be readable to the caller',
    },
    {
      route: `${method} /api/tasks/:task_id`,
      by: 'parent_task_id',
      subject: 'task',
      names: 'task_id',
      kinds: LIVE,
      send: (s) => ({ params: { task_id: s.id }, body: { title: 'Another', parent_task_id: s.task_id } }),
      reference: { own: 400, foreign: 400, unknown: 404, garbage: 404, respelt: 404 },
      why: 'the own one would be its own parent',
    },
    {
      route: `${method} /api/tasks/:task_id`,
      by: 'assigned_to',
      subject: 'task',
      names: 'user_id',
      kinds: LIVE,
      send: (s) => ({ params: { task_id: s.id }, body: { assigned_to: s.user_id } }),
      reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
      why: 'contract: a person outside the project’s team gives 400',
    },
    {
      route: `${method} /api/tasks/:task_id/status`,
      subject: 'task',
      kinds: TRASHABLE,
      send: (s) => ({ params: { task_id: s.id }, body: STATUS_BODY }),
    },
  ]),
  { route: 'DELETE /api/tasks/:task_id', subject: 'task', kinds: TRASHABLE, send: (s) => ({ params: { task_id: s.id } }) },
];

const comments: Row[] = [
  { route: 'GET /api/tasks/:task_id/comments', subject: 'task', kinds: TRASHABLE, send: (s) => ({ params: { task_id: s.id } }) },
  {
    route: 'POST /api/tasks/:task_id/comments',
    by: 'task_id',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ params: { task_id: s.id }, body: { content: 'Ready' } }),
  },
  {
    route: 'POST /api/tasks/:task_id/comments',
    by: 'parent_comment_id',
    subject: 'comment',
    kinds: LIVE,
    send: (s) => ({ params: { task_id: s.task_id }, body: { content: 'Ready', parent_comment_id: s.id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'a reply is to a comment on the same task',
  },
  {
    route: 'PATCH /api/comments/:comment_id',
    by: 'one’s own',
    subject: 'comment',
    author: 'caller',
    kinds: TRASHABLE,
    send: (s) => ({ params: { comment_id: s.id }, body: { content: 'Better words' } }),
  },
  {
    route: 'PATCH /api/comments/:comment_id',
    by: 'another’s',
    subject: 'comment',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { comment_id: s.id }, body: { content: 'Better words' } }),
    lowest: 'nobody',
    why: 'editing is the author’s alone',
  },
  {
    route: 'DELETE /api/comments/:comment_id',
    by: 'one’s own',
    subject: 'comment',
    author: 'caller',
    kinds: TRASHABLE,
    send: (s) => ({ params: { comment_id: s.id } }),
  },
  {
    route: 'DELETE /api/comments/:comment_id',
    by: 'another’s',
    subject: 'comment',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: { comment_id: s.id } }),
    lowest: 'manager',
    why: 'deleting is the author’s or a manager’s',
  },
];

const projects: Row[] = [
  {
    route: 'GET /api/projects',
    by: 'nothing',
    subject: 'project',
    kinds: ['own', 'foreign', 'trashed'],
    send: () => ({}),
    list: true,
  },
  {
    route: 'GET /api/projects',
    by: 'team_id',
    subject: 'project',
    names: 'team_id',
    kinds: TRASHABLE,
    send: (s) => ({ query: { team_id: s.team_id, limit: '2000' } }),
    list: true,
  },
  {
    route: 'POST /api/projects',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { name: 'Apollo', team_id: s.id } }),
  },
  {
    route: 'GET /api/projects/:project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ params: { project_id: s.id } }),
  },
  ...(['PATCH', 'PUT'] as const).flatMap((method): Row[] => [
    {
      route: `${method} /api/projects/:project_id`,
      by: 'project_id',
      subject: 'project',
      kinds: TRASHABLE,
      send: (s) => ({ params: { project_id: s.id }, body: { name: 'Gemini' } }),
    },
    {
      route: `${method} /api/projects/:project_id`,
      by: 'team_id',
      subject: 'project',
      names: 'team_id',
      kinds: LIVE,
      send: (s) => ({ params: { project_id: s.id }, body: { name: 'Gemini', team_id: s.team_id } }),
      reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
      why: 'the team of a project never changes',
    },
  ]),
  {
    route: 'DELETE /api/projects/:project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ params: { project_id: s.id } }),
  },
];

const trash: Row[] = [
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
    const send = (s: Subject): OutboundResult => ({ params: { [`${type}_id`]: s.id } });
    return [
      { route: purge, by: 'in the trash', subject: type === 'task' ? 'trashedTask' : 'trashedProject', kinds: LIVE, send },
      { route: purge, by: 'live', subject: type, kinds: ['own'], send, reference: { own: 404 }, why: 'not in the trash' },
      { route, by: 'in the trash', subject: type === 'task' ? 'trashedTask' : 'trashedProject', kinds: LIVE, send },
      { route, by: 'live', subject: type, kinds: ['own'], send, reference: { own: 404 }, why: 'nothing to restore' },
    ];
  }),
];

const activity: Row[] = [
  { route: 'GET /api/activity', by: 'nothing', subject: 'activityLine', kinds: ['own', 'foreign'], send: () => ({}), list: true },
  ...(['team_id', 'project_id', 'id'] as const).map(
    (names): Row => ({
      route: 'GET /api/activity',
      by: names,
      subject: 'activityLine',
      names,
      kinds: LIVE,
      send: (s) => ({ query: { [names === 'id' ? 'entity_id' : names]: s[names] } }),
      list: true,
    }),
  ),
];

const AUTOMATION = { name: 'Thank you', trigger_type: 'task.created', actions: [] };
const byPath = (s: Subject): OutboundResult => ({ params: { automation_id: s.id } });

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
  const send = (s: Subject): OutboundResult => ({ ...byPath(s), body });
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
const cancelled = (s: Subject): OutboundResult => ({ params: { run_id: s.id } });

/** Ending a run has the rules of starting one. */
const cancels: Row[] = [
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

const automations: Row[] = [
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
  ...cancels,
  { route: 'GET /api/notifications', subject: 'notification', kinds: ['own', 'foreign'], send: () => ({}), list: true },
  { route: 'POST /api/notifications/read', subject: 'nothing', kinds: ['own'], send: () => ({ body: {} }) },
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

const decisions = (['approve', 'reject'] as const).flatMap((verb): Row[] => {
  const route = `POST /api/automations/runs/:run_id/${verb}`;
  const send = (s: Subject): OutboundResult => ({ params: { run_id: s.id } });
  return [
    { route, by: 'a gate for members', subject: 'runForMember', author: 'colleague', kinds: LIVE, send },
    {
      route,
      by: 'a gate for managers',
      subject: 'runForManager',
      author: 'colleague',
      kinds: LIVE,
      send,
      lowest: 'manager',
      why: 'the gate names the role',
    },
    {
      route,
      by: 'a gate for admins',
      subject: 'runForAdmin',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'admin',
      why: 'the gate names the role',
    },
    ...(
      [
        ['one created it', 'strictRunCreated'],
        ['one wrote its version', 'strictRunRewritten'],
        ['one started the run', 'strictRunStarted'],
      ] as const
    ).map(
      ([by, subject]): Row => ({
        route,
        by: `without self-approval, ${by}`,
        subject,
        author: 'caller',
        kinds: ['own'],
        send,
        ...(verb === 'approve' ? { lowest: 'nobody' as const } : {}),
        why: 'rejecting one’s own run only keeps things from happening',
      }),
    ),
    {
      route,
      by: 'without self-approval, all by another',
      subject: 'strictRunCreated',
      author: 'colleague',
      kinds: ['own'],
      send,
    },
    {
      route,
      by: 'a lapsed gate',
      subject: 'runForManagerLapsed',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'manager',
      ...(verb === 'approve' ? { reference: { own: 410 } } : {}),
      why: 'past its time a gate can only be rejected',
    },
    {
      route,
      by: 'a run without an open gate',
      subject: 'run',
      author: 'colleague',
      kinds: ['own'],
      send,
      reference: { own: 409 },
      why: 'nothing to decide',
    },
    {
      route,
      by: 'another’s personal run',
      subject: 'personalRun',
      author: 'colleague',
      kinds: ['own'],
      send,
      lowest: 'nobody',
      why: 'its creator alone decides',
    },
    {
      route,
      by: 'one’s own personal run',
      subject: 'personalRun',
      author: 'caller',
      kinds: ['own'],
      send,
      lowest: 'none',
      why: 'its creator alone decides',
    },
  ];
});

const approvals: Row[] = [
  {
    route: 'GET /api/automations/approvals',
    subject: 'runForManager',
    kinds: ['own', 'foreign'],
    send: () => ({ query: { limit: '200' } }),
    list: true,
  },
  ...decisions,
];

const RETRY = 'POST /api/automations/dead-letter/:run_id/retry';
const byRun = (s: Subject): OutboundResult => ({ params: { run_id: s.id } });

const deadLetter: Row[] = [
  {
    route: 'GET /api/automations/dead-letter',
    by: 'nothing',
    subject: 'failedRun',
    kinds: ['own', 'foreign', 'trashed'],
    send: () => ({ query: { limit: '200' } }),
    list: true,
  },
  {
    route: 'GET /api/automations/dead-letter',
    by: 'team_id',
    subject: 'failedRun',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    lowest: 'guest',
    outcome: { unknown: 403, garbage: 403, respelt: 403 },
    why: 'the contract has 403 for this filter; a team that is not there is one the caller is not in',
  },
  { route: RETRY, by: 'one’s own', subject: 'failedRun', author: 'caller', kinds: LIVE, send: byRun },
  {
    route: RETRY,
    by: 'another’s',
    subject: 'failedRun',
    author: 'colleague',
    kinds: LIVE,
    send: byRun,
    lowest: 'manager',
    why: 'another person’s automation needs a manager',
  },
  {
    route: RETRY,
    by: 'a deleted automation’s',
    subject: 'deletedFailedRun',
    author: 'caller',
    kinds: ['own'],
    send: byRun,
    reference: { own: 404 },
    why: 'no dead letter any more',
  },
  {
    route: RETRY,
    by: 'one that did not fail',
    subject: 'run',
    author: 'caller',
    kinds: ['own'],
    send: byRun,
    reference: { own: 404 },
    why: 'no dead letter',
  },
];

const BIND = (s: Subject) => ({ repo: `acme/${uuidv7()}`, team_id: s.team_id });

const forge: Row[] = [
  {
    route: 'POST /api/forge/webhooks',
    subject: 'delivery',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => ({ raw: s.canary, headers: { 'x-forge-event': 'push', 'x-hub-signature-256': `sha256=${s.id}` } }),
    public: { own: 200, unknown: 401, garbage: 401 },
    leaves: 'a count of deliveries with a bad signature',
  },
  { route: 'GET /api/forge/webhooks/status', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  { route: 'GET /api/forge/deliveries', subject: 'team', kinds: LIVE, send: (s) => ({ query: { team_id: s.id } }) },
  { route: 'GET /api/forge/repositories', subject: 'team', kinds: LIVE, send: (s) => ({ query: { team_id: s.id } }) },
  {
    route: 'POST /api/forge/repositories',
    by: 'team_id',
    subject: 'team',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ body: BIND(s) }),
    instanceAdmin: true,
    why: 'only an instance admin may bind a repository for a second team',
  },
  {
    route: 'POST /api/forge/repositories',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ body: { ...BIND(s), project_id: s.id } }),
    reference: { foreign: 403, trashed: 404, unknown: 404, garbage: 404, respelt: 404 },
    instanceAdmin: true,
  },
  {
    route: 'DELETE /api/forge/repositories/:binding_id',
    subject: 'binding',
    kinds: LIVE,
    send: (s) => ({ params: { binding_id: s.id } }),
    instanceAdmin: true,
  },
  {
    route: 'POST /api/tasks/:task_id/forge-links',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ params: { task_id: s.id }, body: { repo: 'acme/rocket', issue_number: 7 } }),
  },
];

const PERSON: Kind[] = ['own', 'unknown', 'garbage', 'respelt'];
const admin: Row[] = [
  { route: 'GET /api/admin/users', subject: 'nothing', kinds: ['own'], send: () => ({}) },
  {
    route: 'POST /api/admin/users/:user_id/suspend',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id }, body: { reason: 'Lost laptop' } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/reinstate',
    subject: 'suspended',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/unlock',
    subject: 'locked',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id } }),
  },
  {
    route: 'POST /api/admin/users/:user_id/deprovision',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ params: { user_id: s.id }, body: { reason: 'Left the company' } }),
  },
  {
    route: 'GET /api/admin/deprovisions/:job_id',
    subject: 'deprovisionJob',
    kinds: PERSON,
    send: (s) => ({ params: { job_id: s.id } }),
  },
  {
    route: 'PUT /api/admin/teams/:team_id/plan',
    subject: 'spareTeam',
    kinds: TRASHABLE,
    send: (s) => ({ params: { team_id: s.id }, body: { plan: 'team' } }),
    instanceAdmin: true,
  },
  {
    route: 'POST /api/admin/impersonate',
    subject: 'outsider',
    kinds: PERSON,
    send: (s) => ({ body: { user_id: s.id, reason: 'Ticket 4711: cannot see it' } }),
  },
  {
    route: 'POST /api/admin/impersonate/stop',
    subject: 'nothing',
    kinds: ['own'],
    send: () => ({}),
    outcome: { own: 409 },
    sparesImpersonator: 'test/api/admin/impersonation.test.ts',
    why: 'the others act as nobody else',
  },
];

/** A test file of each name runs these rows: split so that files take about the same time. */
export const GROUPS = {
  accounts: [...auth, ...accounts, ...tokens, ...admin],
  teams: [...teams, ...invitations, ...projects, ...activity, ...forge],
  tasks: [...tasks, ...comments],
  automations: [...trash, ...automations],
  approvals: [...approvals, ...deadLetter],
  vault: vaultCases,
  graph: graphCases,
} satisfies Record<string, Row[]>;

/** Every row. A route without a row, or a row without a route, fails the suite. */
export const CASES: Row[] = Object.values<Row[]>(GROUPS).flat();
