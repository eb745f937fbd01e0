import { existsSync } from 'node:fs';
import { ENDPOINTS } from '../../../api/http/router.js';
import { TOOLS } from '../../../api/agent/mcp/tools.js';
import { buildLlmsText } from '../../../api/http/llms.js';
import { startApp, type TestApp } from '../../support/app.js';

// The page for language models.

let app: TestApp;
let text: string;
beforeAll(async () => {
  app = await startApp({ NODE_ENV: 'development' });
  const response = await fetch(`${app.url}/llms.txt`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  text = await response.text();
});
afterAll(() => app.close());

it('names every tool of the MCP server', () => {
  expect(TOOLS.filter(({ name }) => !text.includes(`- \`${name}\`: `))).toEqual([]);
  // The tools that its advice speaks of.
  for (const name of ['propose_plan', 'request_change']) expect(TOOLS.map((tool) => tool.name)).toContain(name);
});

it('names only routes, documents and pages that exist', async () => {
  for (const [, method = '', path = ''] of text.matchAll(/`(GET|POST) (\/api\/[^`]+)`/g))
    expect(ENDPOINTS.some((endpoint) => endpoint.path === path && endpoint.method === method.toLowerCase())).toBe(true);
  for (const [, path = ''] of text.matchAll(/`(docs\/guide\/[^`]+)`/g)) expect([path, existsSync(path)]).toEqual([path, true]);
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => new URL(link).pathname);
  expect(links).toContain('/api/openapi.json');
  for (const path of links.filter((link) => link !== '/api/mcp')) expect((await fetch(app.url + path)).status).toBe(200);
});

it('names no document that production hides', () => {
  expect(buildLlmsText({ ...app.services.config, NODE_ENV: 'production' })).not.toMatch(/openapi\.json|redoc/);
});
