import { Readable } from 'node:stream';
import Router, { type RouterMiddleware } from '@koa/router';
import { deprovisioningRoutes } from '../identity/admin/deprovisioning/routes.js';
import { impersonationRoutes } from '../identity/admin/impersonation/routes.js';
import { liveRoutes } from '../identity/live/routes.js';
import { adminRoutes } from '../identity/admin/routes.js';
import { mcpRoutes } from '../agent/mcp/routes.js';
import { triageRoutes } from '../automation/triage/routes.js';
import { activityRoutes } from '../work/activity-feed/routes.js';
import { agentPlanRoutes } from '../agent/plans/routes.js';
import { agentSessionRoutes } from '../agent/sessions/routes.js';
import { agentChatRoutes } from '../agent/turns/routes.js';
import { auditRoutes } from '../audit/log/routes.js';
import { passwordRoutes } from '../identity/auth/password/routes.js';
import { authRoutes } from '../identity/auth/routes.js';
import { sessionRoutes } from '../identity/auth/sessions/routes.js';
import { signUpRoutes } from '../identity/auth/sign-up/routes.js';
import { twoFactorRoutes } from '../identity/auth/two-factor/routes.js';
import { decisionRoutes } from '../approvals/routes.js';
import { approvalRoutes } from '../automation/runs/approvals/routes.js';
import { dispatchRoutes } from '../automation/runs/dispatch/routes.js';
import { ownershipRoutes } from '../automation/definitions/ownership/routes.js';
import { versionRoutes } from '../automation/definitions/versions/routes.js';
import { deadLetterRoutes } from '../automation/runs/dead-letter/routes.js';
import { gatewayRoutes } from '../automation/gateway/routes.js';
import { askRoutes } from '../automation/requests/routes.js';
import { runRoutes } from '../automation/runs/routes.js';
import { hookRoutes } from '../automation/hooks/routes.js';
import { automationRoutes } from '../automation/definitions/routes.js';
import { receiptRoutes } from '../gate/receipts/routes.js';
import { importRoutes } from '../bulk/import/routes.js';
import { bulkRoutes } from '../bulk/routes.js';
import { commentRoutes } from '../work/comments/routes.js';
import { followerRoutes } from '../work/tasks/followers/routes.js';
import { cycleRoutes } from '../work/cycles/routes.js';
import { customFieldRoutes } from '../work/custom-fields/routes.js';
import { cycleTimeRoutes } from '../integrations/forge/cycle-time/routes.js';
import { fileRoutes } from '../work/items/files/routes.js';
import { addressRoutes } from '../integrations/forge/addresses/routes.js';
import { forgeRoutes } from '../integrations/forge/routes.js';
import { integrationRoutes } from '../integrations/connections/routes.js';
import { workItemRoutes } from '../work/items/routes.js';
import { noteRoutes } from '../work/items/notes/routes.js';
import { notificationRoutes } from '../work/notifications/routes.js';
import { requestRoutes } from '../gate/requests/routes.js';
import { requestRuleRoutes } from '../gate/requests/rules/routes.js';
import { projectRoutes } from '../work/projects/routes.js';
import { relationRoutes } from '../work/relations/routes.js';
import { runnerRoutes } from '../automation/runners/routes.js';
import { runnerWorkRoutes } from '../automation/runners/work-routes.js';
import { savedViewRoutes } from '../work/saved-views/routes.js';
import { searchRoutes } from '../work/search/routes.js';
import { secretRoutes } from '../automation/secrets/routes.js';
import { taskRoutes } from '../work/tasks/routes.js';
import { projectUpdateRoutes } from '../work/projects/updates/routes.js';
import { stageRoutes } from '../work/tasks/stages/routes.js';
import { invitationRoutes } from '../identity/teams/invitations/routes.js';
import { teamRoutes } from '../identity/teams/routes.js';
import { tokenRoutes } from '../identity/tokens/routes.js';
import { trashRoutes } from '../bulk/trash/routes.js';
import { webhookRoutes } from '../integrations/webhooks/routes.js';
import type { Services } from '../platform/context.js';
import { closeStalled } from '../platform/endpoint/close-stalled.js';
import { clientIp } from '../platform/endpoint/client-ip.js';
import { type Dispatcher, dispatch } from './dispatch.js';
import type { Endpoint } from '../platform/endpoint/endpoint.js';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { createRateLimiter } from '../platform/endpoint/rate-limit.js';

/** Every route of the API, in matching order. The document, the matrix test and the router read this list. */
export const ENDPOINTS: Endpoint[] = [
  ...authRoutes,
  ...twoFactorRoutes,
  ...passwordRoutes,
  ...sessionRoutes,
  ...tokenRoutes,
  ...teamRoutes,
  ...invitationRoutes,
  ...projectRoutes,
  ...projectUpdateRoutes,
  ...taskRoutes,
  ...stageRoutes,
  ...customFieldRoutes,
  ...savedViewRoutes,
  ...bulkRoutes,
  ...importRoutes,
  ...commentRoutes,
  ...followerRoutes,
  ...cycleTimeRoutes,
  ...relationRoutes,
  ...cycleRoutes,
  ...noteRoutes,
  ...workItemRoutes,
  ...searchRoutes,
  ...agentSessionRoutes,
  ...agentChatRoutes,
  ...agentPlanRoutes,
  ...fileRoutes,
  ...trashRoutes,
  ...activityRoutes,
  ...liveRoutes,
  ...auditRoutes,
  ...approvalRoutes,
  ...decisionRoutes,
  ...askRoutes,
  ...gatewayRoutes,
  ...requestRoutes,
  ...requestRuleRoutes,
  ...receiptRoutes,
  ...deadLetterRoutes,
  ...secretRoutes,
  ...dispatchRoutes,
  ...ownershipRoutes,
  ...versionRoutes,
  ...runRoutes,
  ...automationRoutes,
  ...hookRoutes,
  ...mcpRoutes,
  ...triageRoutes,
  ...notificationRoutes,
  ...forgeRoutes,
  ...addressRoutes,
  ...webhookRoutes,
  ...runnerWorkRoutes,
  ...runnerRoutes,
  ...integrationRoutes,
  ...adminRoutes,
  ...deprovisioningRoutes,
  ...impersonationRoutes,
];

/** Runs one endpoint for Koa; the only place that converts between Koa and plain values. */
const createHandler =
  (dispatcher: Dispatcher, endpoint: Endpoint): RouterMiddleware<RouteState> =>
  async (ctx) => {
    ctx.state.endpoint = endpoint;
    const { requestId, log, headers } = ctx.state;
    const ip = clientIp(ctx.req, dispatcher.services.config.TRUST_PROXY_HOPS);
    const answer = await dispatch(
      dispatcher,
      endpoint,
      { request: ctx.req, params: ctx.params, query: ctx.query, requestId, log, ip },
      headers,
    );
    ctx.status = answer.status;
    ctx.set(answer.headers);
    // Set before the body, or Koa guesses the type from it.
    if (typeof answer.body === 'string')
      ctx.set('Content-Type', `${endpoint.page ? 'text/html' : 'application/json'}; charset=utf-8`);
    if (answer.body instanceof Readable) closeStalled(ctx.req, ctx.res);
    ctx.body = answer.body;
  };

/** Returns the area: `tasks` of `/api/tasks/1`. */
const getArea = (path: string): string => path.split('/', 3)[2] ?? '';

/**
 * Creates the router. Paths match exactly: case-sensitive, without a trailing slash. Each area has its own router, because a router
 * tries its routes one by one.
 */
export function createRouter(services: Services) {
  const dispatcher: Dispatcher = { services, limit: createRateLimiter(services) };
  const routers = new Map<string, Router<RouteState>>();
  for (const endpoint of [...ENDPOINTS, ...signUpRoutes]) {
    const area = getArea(endpoint.path);
    const router = routers.get(area) ?? new Router<RouteState>({ sensitive: true, strict: true });
    router.register(endpoint.path, [endpoint.method], createHandler(dispatcher, endpoint));
    routers.set(area, router);
  }
  const areas = new Map([...routers].map(([area, router]) => [area, router.routes()]));
  const routes: RouterMiddleware<RouteState> = (ctx, next) => areas.get(getArea(ctx.path))?.(ctx, next) ?? next();
  return {
    routes: () => routes,
    /** Methods of some route at this path, OPTIONS included; empty for an unknown path. */
    methodsAt: (path: string): string[] => {
      const layers = routers.get(getArea(path))?.match(path, 'OPTIONS').path ?? [];
      // /api/tasks/my is a separate resource, though the pattern /api/tasks/:task_id matches it too.
      const own = layers.filter((layer) => layer.paramNames.length === 0);
      const methods = (own.length > 0 ? own : layers).flatMap((layer) => layer.methods);
      return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])];
    },
  };
}
