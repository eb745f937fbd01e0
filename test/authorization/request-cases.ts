import { v7 as uuidv7 } from 'uuid';
import { message } from './mcp-cases.js';
import { EDITED } from './request-subjects.js';
import { LIVE, type Row } from './row.js';
import type { Subject } from './subjects.js';

const OPERATION = { system: 'payments', name: 'deploy', target: null, arguments: { version: '1' } };
const params = (s: Subject) => ({ request_id: s.id });
const ofTeam = (route: string, body?: unknown): Row => ({
  route,
  subject: 'team',
  kinds: LIVE,
  send: (s) => ({ params: { team_id: s.id }, ...(body === undefined ? {} : { body }) }),
});

const decisions = (['approve', 'reject'] as const).flatMap((verb): Row[] => {
  const route = `POST /api/change-requests/:request_id/${verb}`;
  const send: Row['send'] = (s) => ({ params: params(s), body: { request_hash: s.hash } });
  const why = 'the request names the role, and a token needs the scope by name';
  const shared = { route, send, lowest: 'manager', namedScope: true, why } as const;
  return [
    { ...shared, by: 'request_id', subject: 'pendingRequest', author: 'colleague', kinds: LIVE },
    {
      ...shared,
      by: 'one’s own request',
      subject: 'pendingRequest',
      author: 'caller',
      kinds: ['own'],
      ...(verb === 'approve' ? { lowest: 'nobody' as const } : {}),
      why: 'nobody behind a request approves it; a no only prevents',
    },
  ];
});

const ofUpstream = (route: string, body?: unknown): Row => ({
  route,
  subject: 'upstream',
  kinds: LIVE,
  send: (s) => ({ params: { upstream_id: s.id }, ...(body === undefined ? {} : { body }) }),
});

/** The gateway before other MCP servers. */
const gateway: Row[] = [
  {
    route: 'GET /api/mcp/upstreams',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.id } }),
  },
  {
    route: 'POST /api/mcp/upstreams',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, slug: `s-${uuidv7()}`.slice(0, 40), url: 'https://192.0.2.1/' } }),
  },
  ofUpstream('GET /api/mcp/upstreams/:upstream_id'),
  ofUpstream('PATCH /api/mcp/upstreams/:upstream_id', { hold_seconds: 5 }),
  ofUpstream('DELETE /api/mcp/upstreams/:upstream_id'),
  ofUpstream('POST /api/mcp/upstreams/:upstream_id/refresh'),
  {
    route: 'PUT /api/mcp/upstreams/:upstream_id/tools/:name',
    subject: 'upstream',
    kinds: LIVE,
    send: (s) => ({ params: { upstream_id: s.id, name: 'echo' }, body: { policy: 'deny', tool_hash: s.hash } }),
  },
  {
    route: 'POST /api/mcp/gateway/:upstream',
    subject: 'upstream',
    kinds: LIVE,
    send: (s) => ({ params: { upstream: s.id }, ...message('tools/list') }),
  },
];

/** Change requests and the rules of a team for them. */
export const requestCases: Row[] = [
  {
    route: 'POST /api/change-requests',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, title: `Release ${uuidv7()}`, operation: { ...OPERATION, target: uuidv7() } } }),
  },
  {
    route: 'GET /api/change-requests',
    subject: 'pendingRequest',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id } }),
    lowest: 'member',
    list: true,
    why: 'what guests may not read is not listed for them',
  },
  {
    route: 'GET /api/change-requests/:request_id',
    subject: 'pendingRequest',
    kinds: LIVE,
    send: (s) => ({ params: params(s) }),
  },
  ...decisions,
  {
    route: 'POST /api/change-requests/:request_id/edit',
    subject: 'pendingRequest',
    author: 'colleague',
    kinds: LIVE,
    send: (s) => ({ params: params(s), body: { request_hash: s.hash, operations: [{ ...OPERATION, arguments: EDITED }] } }),
    lowest: 'manager',
    why: 'users who may approve may edit',
  },
  {
    route: 'POST /api/change-requests/:request_id/cancel',
    by: 'one’s own request',
    subject: 'approvedRequest',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: params(s), body: {} }),
  },
  {
    route: 'POST /api/change-requests/:request_id/cancel',
    by: 'a request of another',
    subject: 'pendingRequest',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: params(s), body: {} }),
    lowest: 'manager',
    why: 'a manager cancels any',
  },
  {
    route: 'POST /api/change-requests/:request_id/redeem',
    by: 'one’s own request',
    subject: 'approvedRequest',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: params(s), body: { request_hash: s.hash, redemption_id: uuidv7() } }),
  },
  {
    route: 'POST /api/change-requests/:request_id/redeem',
    by: 'a request of another',
    subject: 'approvedRequest',
    author: 'colleague',
    kinds: ['own'],
    send: (s) => ({ params: params(s), body: { request_hash: s.hash, redemption_id: uuidv7() } }),
    lowest: 'nobody',
    why: 'only the person who asked uses the approval',
  },
  {
    route: 'POST /api/change-requests/:request_id/outcome',
    subject: 'redeemedRequest',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: params(s), body: { status: 'succeeded' } }),
  },
  {
    route: 'GET /api/change-requests/:request_id/result',
    subject: 'performedRequest',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: params(s) }),
  },
  ...gateway,
  ofTeam('GET /api/teams/:team_id/request-rules'),
  ofTeam('PUT /api/teams/:team_id/request-rules', { rules: [{ system: 'payments' }] }),
  ofTeam('POST /api/teams/:team_id/request-rules/test', { operation: OPERATION }),
];
