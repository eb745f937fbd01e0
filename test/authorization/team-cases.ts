import { v7 as uuidv7 } from 'uuid';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import { type Row, LIVE, type Sent, TRASHABLE } from './row.js';
import type { Subject } from './subjects.js';

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
    why: 'another person’s seat; the table’s `guest` is for one’s own',
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
  ...['accept', 'decline'].flatMap((decision): Row[] => [
    {
      route: `POST /api/invitations/:invitation_id/${decision}`,
      subject: 'ownInvitation',
      author: 'caller',
      kinds: ['own', 'unknown', 'garbage', 'respelt'],
      send: (s) => ({ params: { invitation_id: s.id } }),
    },
    {
      route: `POST /api/invitations/:invitation_id/${decision}`,
      by: 'somebody else',
      subject: 'ownInvitation',
      author: 'colleague',
      kinds: ['own'],
      send: (s) => ({ params: { invitation_id: s.id } }),
      outcome: { own: 404 },
      why: 'an invitation of another address is none',
    },
  ]),
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
    {
      route: `${method} /api/projects/:project_id`,
      by: 'lead_id',
      subject: 'project',
      names: 'user_id',
      kinds: LIVE,
      send: (s) => ({ params: { project_id: s.id }, body: { name: 'Gemini', lead_id: s.user_id } }),
      reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
      why: 'a lead outside of the team is refused like an assignee',
    },
  ]),
  {
    route: 'DELETE /api/projects/:project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ params: { project_id: s.id } }),
  },
  {
    route: 'GET /api/projects/:project_id/updates',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ params: { project_id: s.id } }),
  },
  {
    route: 'POST /api/projects/:project_id/updates',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ params: { project_id: s.id }, body: { health: 'on_track', content: 'Fine' } }),
  },
  ...(['PATCH', 'DELETE'] as const).flatMap((method): Row[] => [
    {
      route: `${method} /api/project-updates/:update_id`,
      by: 'one’s own',
      subject: 'project_update',
      author: 'caller',
      kinds: TRASHABLE,
      send: (s) => ({ params: { update_id: s.id }, ...(method === 'PATCH' && { body: { content: 'Better words' } }) }),
    },
    {
      route: `${method} /api/project-updates/:update_id`,
      by: 'another’s',
      subject: 'project_update',
      author: 'colleague',
      kinds: ['own'],
      send: (s) => ({ params: { update_id: s.id }, ...(method === 'PATCH' && { body: { content: 'Better words' } }) }),
      lowest: method === 'PATCH' ? 'nobody' : 'manager',
      why: 'editing is the author’s alone, deleting the author’s or a manager’s',
    },
  ]),
];

const activity: Row[] = [
  // Whose changes it holds: test/api/identity/live.
  { route: 'GET /api/events', subject: 'nothing', kinds: ['own'], send: () => ({}) },
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

const BIND = (s: Subject) => ({ repo: `acme/${uuidv7()}`, team_id: s.team_id });

/** A delivery to the address of a binding, as GitHub signs it. */
function signedById({ id }: Subject, body: object): Sent {
  const raw = JSON.stringify(body);
  const headers = { 'x-github-event': 'push', 'x-github-delivery': uuidv7(), 'x-hub-signature-256': sign(Buffer.from(raw), id) };
  return { params: { binding_id: id }, raw, headers };
}

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
    route: 'POST /api/forge/webhooks/:binding_id',
    subject: 'boundAddress',
    kinds: ['own', 'unknown', 'garbage'],
    send: (s) => signedById(s, { ref: 'refs/heads/main', commits: [], repository: { full_name: s.canary } }),
    public: { own: 200, unknown: 401, garbage: 401 },
  },
  {
    route: 'POST /api/forge/repositories/:binding_id/address',
    subject: 'binding',
    kinds: LIVE,
    send: (s) => ({ params: { binding_id: s.id } }),
    instanceAdmin: true,
    once: true,
  },
  {
    route: 'GET /api/forge/repositories/:binding_id/address',
    subject: 'boundAddress',
    kinds: LIVE,
    send: (s) => ({ params: { binding_id: s.id } }),
  },
  {
    route: 'POST /api/forge/repositories/:binding_id/address/rotate-secret',
    subject: 'boundAddress',
    kinds: LIVE,
    send: (s) => ({ params: { binding_id: s.id }, body: {} }),
    instanceAdmin: true,
  },
  {
    route: 'DELETE /api/forge/repositories/:binding_id/address',
    subject: 'boundAddress',
    kinds: LIVE,
    send: (s) => ({ params: { binding_id: s.id } }),
    instanceAdmin: true,
    once: true,
  },
  {
    route: 'POST /api/tasks/:task_id/forge-links',
    subject: 'task',
    kinds: TRASHABLE,
    send: (s) => ({ params: { task_id: s.id }, body: { repo: 'acme/rocket', issue_number: 7 } }),
  },
];

/** Teams and what belongs to them as a whole. */
export const teamCases: Row[] = [...teams, ...invitations, ...projects, ...activity, ...forge];
