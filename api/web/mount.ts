import type Koa from 'koa';
import { countConfirmable } from '../agent/plans/waiting/list-pending.js';
import { countDecidableRequests } from '../gate/requests/read/list-requests.js';
import { getMe } from '../identity/auth/get-me.js';
import { type ApprovalPage, listApprovalsAfter } from '../automation/runs/approvals/list-approvals.js';
import { ANONYMOUS } from '../platform/access/actor.js';
import type { Context, Services } from '../platform/context.js';
import { countedDatabase } from '../platform/database/counted-database.js';
import { DomainError } from '../platform/errors.js';
import { countUnread } from '../work/notifications/list-notifications.js';
import { clientIp } from '../platform/endpoint/client-ip.js';
import { addressKey, createRateLimiter } from '../platform/endpoint/rate-limit.js';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { SHORT_PATHS } from './navigation/short-paths.js';
import { PAGES } from './pages.js';
import { csrfToken } from './server/csrf.js';
import { findPage } from './server/find-page.js';
import { headersFor } from './server/headers.js';
import { openPage } from './server/open-page.js';
import { LIVE, sendLive } from './server/live.js';
import { createRenderer } from './server/render.js';
import { HOME } from './server/safe-path.js';
import { type PageShell, type KoaContext, sendDownload, sendError, sendFile, sendOn, sendView } from './server/send.js';
import { type BrowserSession, readBrowserSession } from './server/session.js';
import { createStaticFiles } from './server/static-files.js';
import { actionableApprovals } from './pages/work/actionable-approvals.js';
import { cleanUserAgent } from '../platform/endpoint/user-agent.js';

/** Gates on a page of approvals; also the cap of the navigation badge. */
const MAX_PENDING = 50;
const NONE: ApprovalPage = { approvals: [], hasMore: false };

const isOurs = (path: string): boolean => path === '/' || path === HOME || path.startsWith(`${HOME}/`);

function buildContext(services: Services, koa: KoaContext, session: BrowserSession): Context {
  const actor = session.actor ?? ANONYMOUS;
  const { requestId, log } = koa.state;
  const userAgent = cleanUserAgent(koa.req.headers['user-agent']);
  const ip = clientIp(koa.req, services.config.TRUST_PROXY_HOPS);
  const db = countedDatabase(services, actor, addressKey(ip));
  return { ...services, db, log, actor, requestId, correlationId: requestId, ip, userAgent };
}

/** Loads the caller and their counts for the navigation. */
async function loadShellData(ctx: Context) {
  const [me, pending, unread, plans, requests] = await Promise.all([
    getMe(ctx),
    listApprovalsAfter(ctx, MAX_PENDING),
    countUnread(ctx),
    countConfirmable(ctx, MAX_PENDING),
    countDecidableRequests(ctx, MAX_PENDING),
  ]);
  return { pending, counts: { me, waiting: actionableApprovals(me, pending.approvals).length + plans + requests, unread } };
}

/** Redirects `/` to the home page. @throws METHOD_NOT_ALLOWED */
function sendHome(koa: KoaContext): void {
  if (koa.method !== 'GET' && koa.method !== 'HEAD') {
    throw new DomainError('METHOD_NOT_ALLOWED', `${koa.method} is not allowed here`, { headers: { Allow: 'GET, HEAD' } });
  }
  koa.redirect(HOME);
}

/** Redirects to the page that a short address means. Returns false for any other address. */
function sendToPage(koa: KoaContext): boolean {
  const to = Object.hasOwn(SHORT_PATHS, koa.path) ? SHORT_PATHS[koa.path] : undefined;
  if (to === undefined || (koa.method !== 'GET' && koa.method !== 'HEAD')) return false;
  koa.redirect(to);
  koa.status = 301;
  return true;
}

/** Mounts the web app: pages under `/app`, static files, and the redirects from `/` and short addresses. */
export function mountWeb(app: Koa<RouteState>, services: Services): void {
  const headers = headersFor(services.config);
  const files = createStaticFiles();
  const render = createRenderer(files);
  const limit = createRateLimiter(services);

  async function servePage(koa: KoaContext, session: BrowserSession): Promise<void> {
    const ctx = buildContext(services, koa, session);
    if (session.actor?.impersonatorId) koa.set('X-Impersonated-By', session.actor.impersonatorId);
    let shell: PageShell = { csrf: csrfToken(services.config, session.binding), me: null, waiting: 0, unread: 0 };
    try {
      let pending = NONE;
      if (session.actor) {
        const data = await loadShellData(ctx);
        shell = { ...shell, ...data.counts };
        pending = data.pending;
      }
      const { page, params } = findPage(PAGES, koa.method, koa.path);
      koa.state.page = `${page.method.toUpperCase()} ${page.path}`;
      const { me } = shell;
      const answer = await openPage(page, {
        limit,
        session,
        params,
        ctx,
        me,
        pending,
        request: koa.req,
        url: koa.url,
        query: koa.query,
      });
      if ('to' in answer) await sendOn(services, koa, session, answer);
      else if ('bytes' in answer) sendDownload(koa, answer);
      else sendView(services.config, render, koa, answer, shell);
    } catch (thrown) {
      sendError(services.config, render, koa, thrown, shell);
    }
  }

  app.use(async (koa, next) => {
    if (!isOurs(koa.path)) return next();
    koa.set(headers);
    if (sendFile(koa, files)) return undefined;
    if (koa.path === '/') return sendHome(koa);
    if (sendToPage(koa)) return undefined;
    try {
      // A page that refreshes automatically marks its requests in the query.
      const session = await readBrowserSession(services, koa.req, 'live' in koa.query || koa.path === LIVE);
      koa.append('Set-Cookie', session.cookies);
      if (koa.path === LIVE && koa.method === 'GET') await sendLive(koa, buildContext(services, koa, session));
      else await servePage(koa, session);
    } catch (thrown) {
      sendError(services.config, render, koa, thrown, { csrf: '', me: null, waiting: 0, unread: 0 });
    }
  });
}
