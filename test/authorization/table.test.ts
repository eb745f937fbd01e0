import { readdirSync } from 'node:fs';
import { type Ability, checkCallerKind, isAdmitted, getRule, type Seat } from '../../api/platform/access/access.js';
import { CASES, GROUPS } from './cases.js';
import { getRoute, getConditionScope, ENFORCED } from './expected.js';
import { gaps, getName } from './run.js';
import { ENDPOINTS } from '../../api/http/router.js';

/** Routes that need no scope, also in strict mode. */
const ANY_TOKEN = ['GET /api/auth/me', 'GET /api/audit/features', 'GET /api/events', 'POST /api/mcp'];
/** Routes of runners, whose tokens have no scopes. */
const OF_RUNNERS = ['claim', 'jobs/:job_id/heartbeat', 'jobs/:job_id/logs', 'jobs/:job_id/complete'].map(
  (path) => `POST /api/runners/${path}`,
);

it('runs the rows of every group', () => {
  expect(readdirSync(import.meta.dirname)).toEqual(expect.arrayContaining(Object.keys(GROUPS).map((name) => `${name}.test.ts`)));
});

it('has a row for every route and a route for every row', () => {
  expect(gaps()).toEqual({ unlisted: [], gone: [] });
});

it('has one row of a name', () => {
  const names = CASES.map(getName);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

it('the pairs of the contract, the decisions and the vault are enforced, with their scopes, and no others', () => {
  const enforced = ENDPOINTS.filter((endpoint) => !endpoint.raw && endpoint.scopeEnforced);
  expect(Object.fromEntries(enforced.map((endpoint) => [getRoute(endpoint), getConditionScope(endpoint)]))).toEqual(ENFORCED);
});

/** The permissions, written out: the code's table is compared with it, so that no role changes unnoticed. */
const EXPECTED_ROLES: Record<Seat | 'none', Ability[]> = {
  none: [
    'account.read',
    'account.write',
    'account.leave',
    'account.session',
    'account.renew',
    'account.security',
    'token.read',
    'token.create',
    'token.revoke',
    'invitation.list',
    'invitation.accept',
    'instance.admin',
    'impersonation.stop',
    'team.create',
    'team.list',
    'project.list',
    'item.list',
    'search.use',
    'saved_view.read',
    'saved_view.own',
    'agent.session',
    'agent.session_delete',
    'plan.read',
    'request.list',
    'trash.list',
    'event.read',
    'activity.list',
    'audit.vocabulary',
    'forge.status',
    'automation.catalogue',
    'automation.list',
    'integration.list',
    'integration.connect',
    'cycle.list',
    'mcp.use',
    'notification.list',
    'notification.mark',
    'runner.work',
  ],
  guest: [
    'team.read',
    'project.read',
    'task.list',
    'task.read',
    'comment.read',
    'automation.read',
    'item.read',
    'cycle_time.read',
    'cycle.read',
    'custom_field.list',
    'custom_field.read',
    'stage.list',
    'task.follow',
    'saved_view.team',
    'member.remove',
  ],
  member: [
    'custom_field.set',
    'saved_view.write',
    'agent.link',
    'plan.decide',
    'plan.edit',
    'plan.undo',
    'item.write',
    'cycle.write',
    'cycle.schedule',
    'relation.write',
    'project.write',
    'task.write',
    'task.recur',
    'trash.restore',
    'comment.write',
    'project_update.write',
    'forge.link',
    'automation.write',
    'automation.dispatch',
    'gate.decide',
    'runner.read',
    'request.create',
    'request.read',
    'request.use',
    'request.cancel',
    'request.decide',
    'request.edit',
    'request_rule.read',
    'gateway.read',
    'gateway.use',
  ],
  manager: [
    'custom_field.manage',
    'stage.manage',
    'bulk.read',
    'bulk.run',
    'plan.decide_high_risk',
    'automation.manage',
    'comment.moderate',
    'project_update.moderate',
    'trash.purge',
    'automation.take_over',
    'runner_job.write',
    'request.cancel_any',
  ],
  admin: [
    'automation.protect',
    'agent_settings.read',
    'agent_settings.write',
    'team.write',
    'member.manage',
    'forge.read',
    'forge.bind',
    'trash.empty',
    'secret.list',
    'secret.write',
    'secret.use_anywhere',
    'audit.read',
    'webhook.read',
    'webhook.write',
    'runner.manage',
    'request_rule.write',
    'gateway.manage',
  ],
};

it('the access table equals the written list', () => {
  const listed = Object.entries(EXPECTED_ROLES).flatMap(([seat, abilities]) =>
    abilities.map((ability) => [ability, seat] as const),
  );
  expect(listed.map(([ability]) => [ability, getRule(ability).seat])).toEqual(listed);
  const used = ENDPOINTS.flatMap(({ ability }) => (ability === 'public' ? [] : [ability]));
  expect(used.filter((ability) => !listed.some(([name]) => name === ability))).toEqual([]);
});

it('no route that writes is open to a guest', () => {
  const open = ENDPOINTS.filter(({ method, ability }) => {
    if (method === 'get' || ability === 'public') return false;
    const { seat, instanceAdmin } = getRule(ability);
    return !instanceAdmin && (seat === 'none' || seat === 'guest');
  });
  // One's own account and tokens are no team's, and neither a team of one's own nor one that invited somebody has them as a guest yet.
  expect(open.map(getRoute)).toEqual([
    'PATCH /api/auth/me',
    'POST /api/auth/2fa/enroll',
    'POST /api/auth/2fa/activate',
    'POST /api/auth/2fa/recovery-codes',
    'POST /api/auth/2fa/disable',
    'POST /api/auth/password/change',
    'POST /api/auth/refresh',
    'POST /api/auth/logout',
    'DELETE /api/auth/sessions/:session_id',
    'DELETE /api/auth/devices/:device_id',
    'POST /api/auth/tokens',
    'DELETE /api/auth/tokens/:token_id',
    'POST /api/teams',
    // Oneself; every other member is an admin's to remove.
    'DELETE /api/teams/:team_id/members/:user_id',
    'POST /api/invitations/:invitation_id/accept',
    'POST /api/invitations/:invitation_id/decline',
    // One's own views; a guest can save none.
    'PATCH /api/saved-views/:view_id',
    'DELETE /api/saved-views/:view_id',
    'POST /api/saved-views/:view_id/default',
    // Whether one hears of a task.
    'PUT /api/tasks/:task_id/followers/me',
    'POST /api/search',
    'POST /api/ai-workspace/sessions',
    'PATCH /api/ai-workspace/sessions/:session_id',
    'DELETE /api/ai-workspace/sessions/:session_id',
    'DELETE /api/ai-workspace/sessions/:session_id/link/:item_type/:item_id',
    'POST /api/ai-workspace/chat',
    'POST /api/ai-workspace/sessions/:session_id/stop',
    // Its tools that stage check the role themselves.
    'POST /api/mcp',
    'PATCH /api/notifications/:notification_id',
    'POST /api/notifications/read',
    'PUT /api/notifications/settings',
    // Runners only, which are of one team each.
    'POST /api/runners/claim',
    'POST /api/runners/jobs/:job_id/heartbeat',
    'POST /api/runners/jobs/:job_id/logs',
    'POST /api/runners/jobs/:job_id/complete',
    'POST /api/integrations/:key/connect',
    'DELETE /api/integrations/:key',
    'POST /api/admin/impersonate/stop',
  ]);
});

it('every route names a scope, but for a few that any token may call and those that refuse tokens', () => {
  const without = ENDPOINTS.filter(
    (endpoint) => endpoint.ability !== 'public' && getRule(endpoint.ability).pat !== false && !getConditionScope(endpoint),
  );
  expect(new Set(without.map(getRoute))).toEqual(new Set([...ANY_TOKEN, ...OF_RUNNERS]));
});

/** Exceptions for tokens and impersonation, written out, so that none changes unnoticed. */
const NO_TOKENS: Ability[] = [
  'account.leave',
  'account.session',
  'account.renew',
  'account.security',
  'token.read',
  'token.create',
  'token.revoke',
  'instance.admin',
  'impersonation.stop',
  'plan.edit',
  'request.edit',
];
const NOT_AS_ANOTHER: Ability[] = [
  'account.session',
  'account.renew',
  'account.security',
  'token.create',
  'invitation.accept',
  'instance.admin',
  'team.create',
  'agent.session_delete',
  'request.list',
  'integration.connect',
  'notification.mark',
  'task.follow',
  'member.remove',
  'plan.decide',
  'plan.edit',
  'cycle.schedule',
  'task.recur',
  'automation.write',
  'automation.dispatch',
  'gate.decide',
  'request.create',
  'request.read',
  'request.use',
  'request.cancel',
  'request.decide',
  'request.edit',
  'gateway.use',
  'bulk.run',
  'plan.decide_high_risk',
  'automation.take_over',
  'runner_job.write',
  'request.cancel_any',
  'automation.protect',
  'agent_settings.write',
  'member.manage',
  'forge.bind',
  'secret.write',
  'webhook.write',
  'runner.manage',
  'request_rule.write',
  'gateway.manage',
];
const INSTANCE_ADMIN: Ability[] = ['instance.admin'];

it('the table rejects tokens, impersonation, and everyone but instance admins where it must', () => {
  const listed = Object.values(EXPECTED_ROLES).flat();
  const those = (keepsOut: (rule: ReturnType<typeof getRule>) => boolean) => listed.filter((name) => keepsOut(getRule(name)));
  expect(those(({ pat }) => pat === false)).toEqual(NO_TOKENS);
  expect(those(({ impersonated }) => impersonated === false)).toEqual(NOT_AS_ANOTHER);
  expect(those(({ instanceAdmin }) => instanceAdmin === true)).toEqual(INSTANCE_ADMIN);
});

/** Questions too long for an address. */
const READS_BY_POST = ['POST /api/search', 'POST /api/teams/:team_id/request-rules/test'];

it('a route that reads names a scope to read, one that writes a scope to write', () => {
  const odd = ENDPOINTS.filter((endpoint) => {
    const right = getConditionScope(endpoint)?.split(':')[1];
    const reads = endpoint.method === 'get' || READS_BY_POST.includes(getRoute(endpoint));
    // The AI workspace has a scope for conversations and one for decisions, not one to read and one to write.
    return right && right !== '*' && !getConditionScope(endpoint)?.startsWith('ai:') && (right === 'read') !== reads;
  });
  expect(odd.map(getRoute)).toEqual([]);
});

/** What the agent may do before a person confirms, written out: reading. */
const PROPOSER: Ability[] = [
  'team.read',
  'project.list',
  'project.read',
  'task.list',
  'task.read',
  'item.list',
  'item.read',
  'comment.read',
  'search.use',
];

it('the agent may read and nothing else, whatever the role of the person it works for', () => {
  const person = { userId: 'u', email: 'e', role: 'admin' } as const;
  const admitted = Object.values(EXPECTED_ROLES)
    .flat()
    .filter((ability) => isAdmitted(ability, { type: 'proposer', ...person }));
  expect(admitted.toSorted()).toEqual(PROPOSER.toSorted());
  expect(() => checkCallerKind('task.write', { type: 'proposer', ...person })).toThrow('The agent only reads and proposes');
});
