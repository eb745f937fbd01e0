import { ENDPOINTS } from '../../../../api/http/router.js';
import { buildCookie, buildPerson, buildToken, type Person } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';

// Tokens of outside agents, which work at the MCP endpoint only.

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp();
  ada = await buildPerson(app);
});
afterAll(() => app.close());

const URL = '/api/auth/tokens';
const toRow = (token_id: string) => app.services.db('personal_access_tokens').where({ token_id }).first();
const words = ({ status, body }: Answer) => [status, body.error_code, body.message, body.detail];

it.each([
  [true, true],
  [false, false],
  [null, false],
  [undefined, false],
])('mcp_only %s is stored, listed and in the audit entry as %s', async (mcp_only, stored) => {
  const made = await app.as(ada).post(URL, { name: 'agent', scopes: ['ai:chat'], mcp_only });
  expect([made.status, made.body.mcp_only]).toEqual([201, stored]);
  const { tokens } = (await app.as(ada).get(URL)).body;
  expect(tokens[0]).toMatchObject({ token_id: made.body.token_id, mcp_only: stored });
  expect(await toRow(made.body.token_id)).toMatchObject({ mcp_only: stored });
  const [entry] = await app.services.db('audit_entries').where({ entity_id: made.body.token_id });
  expect(JSON.parse(entry.details)).toMatchObject({ mcp_only: stored });
});

it('another type of mcp_only is a 422', async () => {
  const answer = await app.as(ada).post(URL, { name: 'agent', scopes: ['ai:chat'], mcp_only: 'yes' });
  expect([answer.status, answer.body.detail.errors[0].field]).toEqual([422, 'body.mcp_only']);
});

it('is a 403 at every route but the MCP endpoints, in the same words, whatever its scopes', async () => {
  const agent = app.as(await buildToken(app, ada, ['admin:*'], { mcp_only: true, strict: true }));
  const routes = ENDPOINTS.filter((each) => !each.raw && each.ability !== 'public' && !each.forAgents);
  expect(routes.length).toBeGreaterThan(100);
  for (const { method, path } of routes) {
    const answer = await agent[method](path.replace(/:(\w+)/g, 'x'), method === 'get' ? undefined : {});
    expect([path, ...words(answer)]).toEqual([
      path,
      403,
      'PERMISSION_DENIED',
      'This token works at /api/mcp and its gateway only',
      'Use another token, or sign in.',
    ]);
  }
  expect((await agent.get('/api/auth/me', undefined, { headers: { cookie: await buildCookie(app, ada) } })).status).toBe(403);
});

it('a revoked or expired one is a 401 like any other', async () => {
  for (const fields of [{ revoked_at: new Date() }, { expires_at: new Date(Date.now() - 1_000) }]) {
    const agent = app.as(await buildToken(app, ada, ['admin:*'], { mcp_only: true, ...fields }));
    expect((await agent.get('/api/tasks')).status).toBe(401);
  }
});
