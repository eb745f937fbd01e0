import type Koa from 'koa';
import { type Config, isDevelopment } from '../platform/config.js';
import { forbidden } from '../platform/errors.js';
import type { Services } from '../platform/context.js';
import { getMail, listMails, type MailboxEntry } from '../platform/mail/list-mails.js';
import type { RouteState } from '../platform/endpoint/route-state.js';

/** The page only frames emails; an email runs and loads nothing. */
const PAGE_CSP =
  "default-src 'none'; style-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; img-src data:";
const MAIL_CSP =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --accent: light-dark(#0f6b5c, #5cc7ae); --quiet: #6b7480; font: 15px/1.5 system-ui, sans-serif; }
* { box-sizing: border-box; } body { margin: 0; height: 100vh; display: grid; grid-template: auto 1fr / minmax(16rem, 24rem) 1fr; }
header { grid-column: 1 / 3; display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; padding: .75rem 1.25rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1rem; margin: 0; } header p { margin: 0; color: var(--quiet); } form { margin-left: auto; }
input, button { font: inherit; padding: .35rem .7rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; }
nav { overflow: auto; border-right: 1px solid var(--line); } nav a { display: block; padding: .75rem 1.25rem; border-bottom: 1px solid var(--line); color: inherit; text-decoration: none; }
nav a:hover, nav a:focus-visible { background: #8881; } nav a[aria-current] { box-shadow: inset 3px 0 var(--accent); background: #0f6b5c18; }
nav strong, nav span { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } nav span { color: var(--quiet); font-size: .85rem; }
main { min-height: 0; } iframe { display: block; width: 100%; height: 100%; border: 0; background: #f4f5f7; } .empty { padding: 3rem 1.25rem; color: var(--quiet); }
@media (max-width: 45rem) { body { grid-template: auto auto 1fr / 1fr; } header { grid-column: 1; } form { margin: 0; } nav { max-height: 35vh; border-right: 0; border-bottom: 1px solid var(--line); } }
`;

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char] as string);

const query = (to: string | undefined, mail?: string): string => {
  const values = { ...(to ? { to } : {}), ...(mail ? { mail } : {}) };
  return escape(`?${new URLSearchParams(values).toString()}`);
};

const item = (to: string | undefined, shown: MailboxEntry | undefined, mail: MailboxEntry): string =>
  `<a href="${query(to, mail.mail_id)}"${mail === shown ? ' aria-current="true"' : ''}><strong>${escape(mail.subject)}</strong>` +
  `<span>${escape(mail.to)}</span><span><time datetime="${mail.sent_at}">${mail.sent_at.slice(0, 19).replace('T', ' ')}</time></span></a>`;

function page(mails: MailboxEntry[], to: string | undefined, wanted: string | undefined): string {
  const shown = mails.find(({ mail_id }) => mail_id === wanted) ?? mails[0];
  const list = mails.map((mail) => item(to, shown, mail)).join('');
  const frame = shown
    ? `<iframe title="${escape(shown.subject)}" sandbox="allow-popups allow-popups-to-escape-sandbox" src="/dev/mailbox/${shown.mail_id}"></iframe>`
    : '<p class="empty">No emails yet. Emails that the service sends appear here.</p>';
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
    '<link rel="icon" href="data:,"><title>Mailbox · Assent</title><link rel="stylesheet" href="/dev/mailbox.css"></head><body>' +
    '<header><h1>Mailbox</h1><p>Captured emails of this machine; none is sent</p><form><input type="search" name="to" aria-label="Recipient" ' +
    `placeholder="ada@demo.test" value="${escape(to ?? '')}"> <button>Filter</button></form></header>` +
    `<nav aria-label="Emails">${list}</nav><main>${frame}</main></body></html>`
  );
}

interface MailboxPage {
  type: string;
  csp: string;
  body: string;
}

async function show(services: Services, path: string, to: string | undefined, mail: string | undefined): Promise<MailboxPage> {
  if (path === '/dev/mailbox.css') return { type: 'text/css', csp: PAGE_CSP, body: STYLE };
  if (path.startsWith('/dev/mailbox/')) {
    return { type: 'text/html', csp: MAIL_CSP, body: (await getMail(services, path.slice('/dev/mailbox/'.length))).html };
  }
  const mails = await listMails(services, to);
  if (path === '/dev/mailbox') return { type: 'text/html', csp: PAGE_CSP, body: page(mails, to, mail) };
  const entries = mails.map((entry) => ({ to: entry.to, subject: entry.subject, text: entry.text, sent_at: entry.sent_at }));
  return { type: 'application/json', csp: PAGE_CSP, body: JSON.stringify(entries) };
}

const PATHS = /^\/dev\/mailbox(\.css|\.json|\/[^/]+)?$/;
const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** Host names that only reach this machine; any other name could be rebound to it by a foreign site. */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Returns whether a Host header names this machine, or the host of BASE_URL. */
function isOwnHost({ BASE_URL }: Config, host: string): boolean {
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
  return LOCAL_NAMES.includes(name) || (BASE_URL !== undefined && name === new URL(BASE_URL).hostname);
}

/** Serves the development mailbox of captured emails; not in production. */
export function mountMailbox(app: Koa<RouteState>, services: Services): void {
  if (!isDevelopment(services.config)) return;
  app.use(async (ctx, next) => {
    if (!PATHS.test(ctx.path) || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    if (!isOwnHost(services.config, ctx.get('Host'))) throw forbidden('The mailbox is only available under a local host name');
    const { type, csp, body } = await show(services, ctx.path, one(ctx.query['to']), one(ctx.query['mail']));
    ctx.set('Content-Security-Policy', csp);
    ctx.status = 200;
    ctx.body = body;
    ctx.type = `${type}; charset=utf-8`;
  });
}
