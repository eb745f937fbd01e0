import { hasRoleAtLeast, getRule, type Seat } from '../../api/platform/access/access.js';
import type { Endpoint } from '../../api/platform/endpoint/endpoint.js';
import type { Kind, Row } from './row.js';
import type { Actor } from './world.js';

export type Mode = 'spec' | 'strict';

/**
 * The routes that always enforce a token's scope, written out so that no declaration in the code widens or narrows them unnoticed: seven
 * by the contract, then the decisions, replays, the vault and change requests.
 */
export const ENFORCED: Record<string, string> = {
  'POST /api/projects': 'projects:write',
  'PUT /api/projects/:project_id': 'projects:write',
  'DELETE /api/projects/:project_id': 'projects:write',
  'POST /api/tasks': 'tasks:write',
  'PUT /api/tasks/:task_id': 'tasks:write',
  'PATCH /api/tasks/:task_id': 'tasks:write',
  'DELETE /api/tasks/:task_id': 'tasks:write',
  'POST /api/automations/runs/:run_id/approve': 'approvals:decide',
  'POST /api/automations/runs/:run_id/reject': 'approvals:decide',
  'POST /api/automations/dead-letter/:run_id/retry': 'automations:write',
  'POST /api/automations/secrets': 'automations:write',
  'DELETE /api/automations/secrets/:name': 'automations:write',
  'POST /api/ai-workspace/agent/confirm': 'ai:confirm',
  'POST /api/ai-workspace/actions/confirm': 'ai:confirm',
  'POST /api/ai-workspace/agent/plans/:action_id/undo': 'ai:confirm',
  'POST /api/change-requests': 'requests:create',
  'GET /api/change-requests': 'requests:read',
  'GET /api/change-requests/:request_id': 'requests:read',
  'GET /api/change-requests/:request_id/result': 'requests:read',
  'POST /api/change-requests/:request_id/approve': 'approvals:decide',
  'POST /api/change-requests/:request_id/reject': 'approvals:decide',
  'POST /api/change-requests/:request_id/edit': 'approvals:decide',
  'POST /api/change-requests/:request_id/cancel': 'requests:create',
  'POST /api/change-requests/:request_id/redeem': 'requests:create',
  'POST /api/change-requests/:request_id/outcome': 'requests:create',
  'GET /api/mcp/upstreams': 'requests:read',
  'POST /api/mcp/upstreams': 'admin:*',
  'GET /api/mcp/upstreams/:upstream_id': 'requests:read',
  'PATCH /api/mcp/upstreams/:upstream_id': 'admin:*',
  'DELETE /api/mcp/upstreams/:upstream_id': 'admin:*',
  'POST /api/mcp/upstreams/:upstream_id/refresh': 'admin:*',
  'PUT /api/mcp/upstreams/:upstream_id/tools/:name': 'admin:*',
  'POST /api/mcp/gateway/:upstream': 'requests:create',
  'GET /api/teams/:team_id/request-rules': 'requests:read',
  'PUT /api/teams/:team_id/request-rules': 'admin:*',
  'POST /api/teams/:team_id/request-rules/test': 'requests:read',
};

/** Expected response. `shows`: whether a list contains the subject. */
export interface Expectation {
  status: number;
  shows?: boolean;
  scopeMissing?: true;
}

export const getRoute = (endpoint: Endpoint): string => `${endpoint.method.toUpperCase()} ${endpoint.path}`;
export const getConditionScope = (endpoint: Endpoint) => (endpoint.raw ? undefined : endpoint.scope);

/** The role a caller needs: the table's, or the row's where the table's words say more. */
function roleNeeded(endpoint: Endpoint, row: Row): Seat | 'none' | 'nobody' {
  return row.lowest ?? (endpoint.ability === 'public' ? 'none' : getRule(endpoint.ability).seat);
}

const may = (needed: Seat | 'none' | 'nobody', seat: Seat | null): boolean =>
  needed === 'none' || (needed !== 'nobody' && hasRoleAtLeast(seat, needed));

/** Callers rejected whatever their role: outside agents, tokens, people at the routes of runners, impersonating admins, everyone but administrators. */
function isKeptOut(endpoint: Endpoint, actor: Actor): boolean {
  if (endpoint.ability === 'public') return false;
  if (actor.mcpOnly && !(endpoint.raw ? undefined : endpoint.forAgents)) return true;
  const { pat, patOnly, impersonated, instanceAdmin, runnerOnly } = getRule(endpoint.ability);
  return (
    runnerOnly === true ||
    (patOnly === true && actor.scope === null) ||
    (pat === false && actor.scope !== null) ||
    (impersonated === false && actor.impersonated === true) ||
    (instanceAdmin === true && !actor.instanceAdmin)
  );
}

/** Whether this caller is asked for the route's scope: on the routes above, everywhere by the setting, or by a strict token. */
export const isEnforced = (endpoint: Endpoint, actor: Actor, mode: Mode): boolean =>
  mode === 'strict' || actor.strict === true || getRoute(endpoint) in ENFORCED;

/**
 * What the rules say of this call, from the table of who may do what and nothing of the route's own code: 401 without a credential,
 * 403 for a token without the scope, 404 for what is unknown, malformed or in the trash, 403 for strangers and too low a seat,
 * else success.
 */
export function getExpected(endpoint: Endpoint, row: Row, actor: Actor, kind: Kind, mode: Mode): Expectation {
  const success = row.success ?? endpoint.status ?? 200;
  if (row.public) return { status: row.public[kind] ?? success };
  if (actor.refused) return { status: 401 };
  const scope = getConditionScope(endpoint);
  if (isKeptOut(endpoint, actor)) return { status: 403 };
  if (actor.scope === 'none' && scope && isEnforced(endpoint, actor, mode)) {
    return { status: 403, scopeMissing: true };
  }
  if (actor.adminElsewhere && row.elsewhere !== undefined) return { status: row.elsewhere, shows: false };
  if (row.list)
    return { status: success, shows: kind === 'own' && actor.seat !== null && may(roleNeeded(endpoint, row), actor.seat) };
  const general = row.outcome?.[kind];
  if (general !== undefined) return { status: general };
  const anyTeam = row.instanceAdmin === true && actor.instanceAdmin;
  const isNamed = row.namedScope !== true || actor.scope !== 'all';
  const allowed = anyTeam || (isNamed && may(roleNeeded(endpoint, row), actor.seat));
  if (row.reference) return { status: allowed ? (row.reference[kind] ?? success) : 403 };
  if (kind === 'foreign') return { status: anyTeam ? success : 403 };
  if (kind !== 'own') return { status: 404 };
  return { status: allowed ? success : 403 };
}
