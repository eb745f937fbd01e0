import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type Koa from 'koa';
import { type Config, isDevelopment } from '../platform/config.js';
import { DEMO_TOKEN } from '../platform/demo-token.js';
import type { Endpoint } from '../platform/endpoint/endpoint.js';
import { type Etag, etagMatcher } from '../platform/endpoint/etags.js';
import { createOpenApi } from './openapi.js';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { ENDPOINTS } from './router.js';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; worker-src blob:; font-src 'self' data:; frame-ancestors 'none'";

const PAGE_STYLE = `:root { color-scheme: light dark; }
body { margin: 0; }
noscript main { display: block; max-width: 50rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
#docs .operation-filter-input { width: 100%; max-width: none; box-sizing: border-box; }
#docs pre, #docs .opblock-summary-path { overflow-wrap: anywhere; }`;

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] as string);

const page = (title: string, head: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${title}</title><link rel="stylesheet" href="/api/docs/page.css">${head}</head><body>${body}</body></html>`;

const REDOC_START = `Redoc.init('/api/openapi.json', { hideDownloadButton: false, expandResponses: '200,201' }, document.getElementById('docs'));`;

/** The operations as a plain list, for readers without scripts. */
function plainList(endpoints: readonly Endpoint[]): string {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  const item = ({ method, path, summary }: Endpoint) =>
    `<li><code>${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}</code> ${escape(summary)}</li>`;
  const section = (tag: string) =>
    `<h2>${escape(tag)}</h2><ul>${endpoints
      .filter((endpoint) => endpoint.tag === tag)
      .map(item)
      .join('')}</ul>`;
  return `<noscript><main><h1>Assent API</h1><p>Scripts are off, so this is the list of operations. <code>/api/openapi.json</code> is the whole document.</p>${tags.map(section).join('')}</main></noscript>`;
}

/**
 * Logo that Redoc shows beside its name, and omits if it fails to load. Removed, because the page's policy would block it with a
 * console error.
 */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

interface Page {
  type: string;
  text: () => string;
}

/** A page as it is sent. */
interface Made {
  type: string;
  plain: Buffer;
  zipped: Buffer;
  etag: Etag;
}

/** Pages that work offline. Their packages are development dependencies. */
function pages({ BASE_URL }: Config): Record<string, Page> {
  const require = createRequire(import.meta.url);
  const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
  const redoc = dirname(require.resolve('redoc/package.json'));
  const html = 'text/html; charset=utf-8';
  const js = 'text/javascript; charset=utf-8';
  const css = 'text/css; charset=utf-8';
  const read = (file: string) => () => readFileSync(file, 'utf8');
  const asset = (name: string) => read(fileURLToPath(new URL(`../web/assets/${name}`, import.meta.url)));
  return {
    '/api/openapi.json': {
      type: 'application/json; charset=utf-8',
      text: () => JSON.stringify(createOpenApi(ENDPOINTS, BASE_URL?.replace(/\/$/, ''))),
    },
    '/api/docs': {
      type: html,
      text: () =>
        page(
          'Assent API',
          '<link rel="stylesheet" href="/api/docs/swagger-ui.css">',
          `<div id="docs" data-token="${DEMO_TOKEN}"></div>${plainList(ENDPOINTS)}<script src="/api/docs/swagger-ui-bundle.js"></script><script type="module" src="/api/docs/start.js"></script>`,
        ),
    },
    '/api/docs/page.css': { type: css, text: () => PAGE_STYLE },
    '/api/docs/start.js': { type: js, text: asset('docs.js') },
    '/api/docs/resolve.js': { type: js, text: asset('docs-resolver.js') },
    '/api/docs/swagger-ui-bundle.js': { type: js, text: read(join(swagger, 'swagger-ui-bundle.js')) },
    '/api/docs/swagger-ui.css': { type: css, text: read(join(swagger, 'swagger-ui.css')) },
    '/api/redoc': {
      type: html,
      text: () =>
        page(
          'Assent API reference',
          '',
          '<div id="docs"></div><script src="/api/redoc/redoc.js"></script><script src="/api/redoc/start.js"></script>',
        ),
    },
    '/api/redoc/start.js': { type: js, text: () => REDOC_START },
    '/api/redoc/redoc.js': {
      type: js,
      text: () => readFileSync(join(redoc, 'bundles', 'redoc.standalone.js'), 'utf8').replace(FOREIGN_LOGO, 'data:,'),
    },
  };
}

async function make({ type, text }: Page): Promise<Made> {
  const plain = Buffer.from(text());
  const etag: Etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { type, plain, zipped: await promisify(gzip)(plain), etag };
}

/** Returns what finds a page, which is made once, when it is first asked for. */
function createPageFinder(config: Config): (path: string) => Promise<Made> | undefined {
  let known: Record<string, Page> | undefined;
  const made = new Map<string, Promise<Made>>();
  return (path) => {
    const found = (known ??= pages(config))[path];
    if (found && !made.has(path)) made.set(path, make(found));
    return made.get(path);
  };
}

/** Serves the API document and its two readers, and redirects `/` there; not in production. */
export function mountDocs(app: Koa<RouteState>, config: Config): void {
  if (!isDevelopment(config)) return;
  const pageAt = createPageFinder(config);
  app.use(async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (ctx.path === '/api' || ctx.path === '/api/') return ctx.redirect('/api/docs');
    const found = /^\/api\/(docs|redoc|openapi\.json)/.test(ctx.path) ? await pageAt(ctx.path) : undefined;
    if (!found) return next();
    const zip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    ctx.set({ 'Content-Security-Policy': CSP, 'Cache-Control': 'no-cache', ETag: found.etag });
    ctx.vary('Accept-Encoding');
    ctx.status = 200;
    if (etagMatcher(ctx.req.headers['if-none-match'])?.(found.etag)) ctx.status = 304;
    else {
      ctx.type = found.type;
      if (zip) ctx.set('Content-Encoding', 'gzip');
      ctx.body = zip ? found.zipped : found.plain;
    }
  });
}
