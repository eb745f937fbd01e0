import { createReadStream, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Koa from 'koa';
import { type Config, isDevelopment } from '../core/config.js';
import { DEMO_TOKEN } from '../core/demo-token.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import { createOpenApi } from './openapi.js';
import type { RouteState } from '../endpoint/route-state.js';
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
  /** Text, or the path of a file of an installed package. */
  text?: string;
  file?: string;
}

/** Pages that work offline. Their packages are development dependencies. */
function pages(): Record<string, Page> {
  const require = createRequire(import.meta.url);
  const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
  const redoc = dirname(require.resolve('redoc/package.json'));
  const html = 'text/html; charset=utf-8';
  const js = 'text/javascript; charset=utf-8';
  return {
    '/api/docs': {
      type: html,
      text: page(
        'Assent API',
        '<link rel="stylesheet" href="/api/docs/swagger-ui.css">',
        `<div id="docs" data-token="${DEMO_TOKEN}"></div>${plainList(ENDPOINTS)}<script src="/api/docs/swagger-ui-bundle.js"></script><script type="module" src="/api/docs/start.js"></script>`,
      ),
    },
    '/api/docs/page.css': { type: 'text/css; charset=utf-8', text: PAGE_STYLE },
    '/api/docs/start.js': { type: js, file: fileURLToPath(new URL('../web/assets/docs.js', import.meta.url)) },
    '/api/docs/swagger-ui-bundle.js': { type: js, file: join(swagger, 'swagger-ui-bundle.js') },
    '/api/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', file: join(swagger, 'swagger-ui.css') },
    '/api/redoc': {
      type: html,
      text: page(
        'Assent API reference',
        '',
        '<div id="docs"></div><script src="/api/redoc/redoc.js"></script><script src="/api/redoc/start.js"></script>',
      ),
    },
    '/api/redoc/start.js': { type: js, text: REDOC_START },
    '/api/redoc/redoc.js': {
      type: js,
      text: readFileSync(join(redoc, 'bundles', 'redoc.standalone.js'), 'utf8').replace(FOREIGN_LOGO, 'data:,'),
    },
  };
}

/** Serves the API document and its two readers, and redirects `/` there; not in production. */
export function mountDocs(app: Koa<RouteState>, config: Config): void {
  if (!isDevelopment(config)) return;
  let served: Record<string, Page> | undefined;
  app.use(async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (ctx.path === '/api' || ctx.path === '/api/') return ctx.redirect('/api/docs');
    if (!ctx.path.startsWith('/api/')) return next();
    if (ctx.path === '/api/openapi.json') {
      served ??= pages();
      served[ctx.path] ??= { type: 'application/json; charset=utf-8', text: JSON.stringify(createOpenApi(ENDPOINTS)) };
    }
    const found = /^\/api\/(docs|redoc|openapi\.json)/.test(ctx.path) ? (served ??= pages())[ctx.path] : undefined;
    if (!found) return next();
    ctx.set('Content-Security-Policy', CSP);
    ctx.status = 200;
    ctx.body = found.text ?? createReadStream(found.file as string);
    ctx.type = found.type;
  });
}
