import { buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// How often one token may call.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({ RATE_LIMIT_MCP: '5', RATE_LIMIT_MCP_PROPOSE: '2' });
  team = await buildTeam(app);
});
afterAll(() => app.close());

const headers = { accept: 'application/json, text/event-stream' };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const propose = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'propose_plan', arguments: {} } };

async function statuses(token: string, message: object, times: number): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const response = await fetch(`${app.url}/api/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(message),
    });
    found.push(response.status);
    if (response.status === 429) {
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error_code: 'RATE_LIMIT_EXCEEDED' });
    } else await response.arrayBuffer();
  }
  return found;
}

it('counts each token by itself, not the address or the person', async () => {
  const [one, other] = [await buildToken(app, team.member, ['tasks:read']), await buildToken(app, team.member, ['tasks:read'])];
  expect(await statuses(one, ping, 7)).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(await statuses(other, ping, 1)).toEqual([200]);
});

it('counts proposals twice: they have a smaller limit of their own', async () => {
  const token = await buildToken(app, team.member, ['ai:chat']);
  expect(await statuses(token, propose, 3)).toEqual([200, 200, 429]);
  expect(await statuses(token, ping, 3)).toEqual([200, 200, 429]);
});
