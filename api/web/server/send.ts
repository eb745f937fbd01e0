import type Koa from 'koa';
import type { Config } from '../../platform/config.js';
import type { Services } from '../../platform/context.js';
import { toDomainError } from '../../platform/database/database-errors.js';
import type { RouteState } from '../../platform/endpoint/route-state.js';
import type { Download, Redirect, View } from '../page.js';
import { cookieLine, readCookie } from './cookies.js';
import { errorView } from './error-view.js';
import { packNotice, unpackNotice } from './notice.js';
import type { Render, Shell } from './render.js';
import { type BrowserSession, signInCookies, signOutCookies } from './session.js';
import type { StaticFiles } from './static-files.js';
import { packStep } from './sign-in-step.js';
import { packUndo } from './undo.js';

export type KoaContext = Koa.ParameterizedContext<RouteState>;
/** Data of the page's frame: the user and their counts. */
export type PageShell = Pick<Shell, 'csrf' | 'me' | 'waiting' | 'unread'>;

/** Sends an immutable file, whose path contains the hash of its content. Returns false for other paths. */
export function sendFile(koa: KoaContext, files: StaticFiles): boolean {
  const file = koa.method === 'GET' || koa.method === 'HEAD' ? files.at(koa.path) : undefined;
  if (!file) return false;
  koa.set('Cache-Control', 'public, max-age=31536000, immutable');
  koa.body = file.bytes;
  koa.type = file.type;
  return true;
}

/** Sends a file that the browser saves. Its headers replace those of pages. */
export function sendDownload(koa: KoaContext, { bytes, headers }: Download): void {
  koa.status = 200;
  koa.body = bytes;
  koa.set(headers);
}

/** Sends a page with its notice. */
export function sendView(config: Config, render: Render, koa: KoaContext, view: View, around: PageShell): void {
  const take = (name: 'notice' | 'undo'): string | undefined => (view.isFragment ? undefined : readCookie(config, koa.req, name));
  const notice = unpackNotice(take('notice'));
  const undo = take('undo');
  if (notice) koa.append('Set-Cookie', cookieLine(config, 'notice', null));
  if (undo !== undefined) koa.append('Set-Cookie', cookieLine(config, 'undo', null));
  if (view.teamId !== undefined && view.teamId !== readCookie(config, koa.req, 'team'))
    koa.append('Set-Cookie', cookieLine(config, 'team', view.teamId));
  koa.status = view.status ?? 200;
  koa.body = render(view, { ...around, notice, undo: notice && undo, path: koa.path, address: koa.url });
  koa.type = 'text/html; charset=utf-8';
}

/** Returns the `Set-Cookie` lines of a redirect. */
async function buildCookies(services: Services, koa: KoaContext, { binding }: BrowserSession, go: Redirect): Promise<string[]> {
  const { config } = services;
  const lines: string[] = [];
  if (go.signIn) lines.push(...(await signInCookies(services, go.signIn)));
  if (go.signIn && go.isImpersonation) lines.push(cookieLine(config, 'own', readCookie(config, koa.req, 'session') ?? null));
  if (go.signOut) lines.push(...signOutCookies(config, koa.req));
  if (go.deviceToken) lines.push(cookieLine(config, 'device', go.deviceToken));
  if (go.step) lines.push(cookieLine(config, 'step', packStep(config, binding, go.step)));
  if (go.notice) lines.push(cookieLine(config, 'notice', packNotice(go.notice)));
  const undo = go.notice?.undo && packUndo(config, binding, go.notice.undo, go.notice.called ?? go.notice.text);
  if (undo !== undefined) lines.push(cookieLine(config, 'undo', undo));
  return lines;
}

/** Redirects with 303. Makes htmx reload the whole page when the user changes. */
export async function sendOn(services: Services, koa: KoaContext, session: BrowserSession, go: Redirect): Promise<void> {
  koa.append('Set-Cookie', await buildCookies(services, koa, session, go));
  koa.body = '';
  if (koa.get('HX-Request') === 'true' && (go.signIn || go.signOut || go.to.startsWith('/app/sign-in'))) {
    koa.set('HX-Redirect', go.to);
    koa.status = 200;
    return;
  }
  koa.set('Location', go.to);
  koa.status = 303;
}

/** Sends an error as a page; logs server errors with their cause. */
export function sendError(config: Config, render: Render, koa: KoaContext, thrown: unknown, around: PageShell): void {
  const error = toDomainError(thrown);
  if (error.status >= 500) koa.state.log.error({ err: error.cause ?? error, path: koa.path }, 'page failed');
  koa.set(error.headers);
  sendView(config, render, koa, errorView(error, koa.state.requestId, around.me), around);
}
