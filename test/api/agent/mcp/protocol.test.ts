import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { request } from 'node:http';
import { buildPerson, buildTeam, buildToken, type Person } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { checkAgainstDocument } from '../../../support/contract-check.js';

// The MCP endpoint as bytes: what a client of the protocol would never send, and what comes back.

const BASE_URL = 'https://assent.example';
let app: TestApp;
let owner: Person;
let token: string;
beforeAll(async () => {
  app = await startApp({ BASE_URL });
  owner = (await buildTeam(app)).member;
  token = await buildToken(app, owner, ['tasks:read'], { mcp_only: true });
});
afterAll(() => app.close());

type Headers = Record<string, string>;
const ACCEPT = 'application/json, text/event-stream';

/** A POST with the headers that every client sends; a header of `null` is left out. */
async function post(body: unknown, headers: Record<string, string | null> = {}) {
  const all = { accept: ACCEPT, 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Headers;
  const response = await fetch(`${app.url}/api/mcp`, {
    method: 'POST',
    headers: sent,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };

/** Keys of both the envelope and JSON-RPC. */
const bothKinds = (id: unknown, code: string) => ({
  success: false,
  status: 'failure',
  error_code: code,
  message: expect.any(String),
  detail: expect.anything(),
  correlation_id: expect.any(String),
  jsonrpc: '2.0',
  id,
  error: { code: expect.any(Number), message: expect.any(String) },
});

it('an older client gets its event stream byte for byte, a notification a 202 without a body', async () => {
  const answer = await post(INITIALIZE);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  expect(answer.text).toMatch(/^event: message\ndata: \{.*"protocolVersion":"2025-11-25".*\}\n\n$/);
  const noted = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect([noted.status, noted.text]).toEqual([202, '']);
  checkAgainstDocument('post', '/api/mcp', { ...answer, body: undefined });
});

it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])('speaks %s', async (protocolVersion) => {
  const { text } = await post({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } });
  expect(text).toContain(`"protocolVersion":"${protocolVersion}"`);
  const { status, text: list } = await post(LIST, { 'mcp-protocol-version': protocolVersion });
  expect([status, list]).toEqual([200, expect.stringContaining('"name":"search"')]);
});

it('an array is a 400 before anything of it is done, in both spellings of the error', async () => {
  const call = { ...LIST, method: 'tools/call', params: { name: 'list_tasks', arguments: {} } };
  for (const many of [[], [LIST], Array.from({ length: 100 }, (_, id) => ({ ...call, id }))]) {
    const answer = await post(many);
    expect([answer.status, json(answer.text)]).toEqual([400, expect.objectContaining(bothKinds(null, 'INVALID_REQUEST'))]);
  }
});

it('subscriptions are refused, so no client keeps a connection open', async () => {
  for (const headers of [{}, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }]) {
    const answer = await post({ jsonrpc: '2.0', id: 9, method: 'subscriptions/listen', params: { notifications: {} } }, headers);
    expect([answer.status, json(answer.text)]).toEqual([400, expect.objectContaining(bothKinds(9, 'INVALID_REQUEST'))]);
  }
});

it.each([
  ['no JSON', '{', {}, 422],
  ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 415],
  ['another type', '{}', { 'content-type': 'text/plain' }, 415],
  ['no message', 'null', {}, 400],
  ['a number', '1', {}, 400],
  ['no method', { jsonrpc: '2.0', id: 1 }, {}, 400],
  ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }, {}, 400],
  ['an unknown version of the protocol', LIST, { 'mcp-protocol-version': '1999-01-01' }, 400],
  ['nothing that is accepted', LIST, { accept: 'text/html' }, 406],
  ['a mebibyte and more', `{"a":"${'x'.repeat(1024 * 1024)}"}`, {}, 413],
  ['nested too deeply', `${'['.repeat(40)}${']'.repeat(40)}`, {}, 422],
])('%s is refused with keys of both kinds, never with a 5xx', async (_what, body, headers: Headers, status) => {
  const answer = await post(body, headers);
  const found = json(answer.text);
  expect([answer.status, found]).toEqual([
    status,
    expect.objectContaining(bothKinds(found['id'], found['error_code'] as string)),
  ]);
  expect(answer.headers.get('x-correlation-id')).toBe(found['correlation_id']);
});

it('a method that is not there is an error of the protocol, whatever its name', async () => {
  for (const method of ['resources/list', 'prompts/get', 'sampling/createMessage', '__proto__', 'x'.repeat(5_000)]) {
    const { status, text } = await post({ jsonrpc: '2.0', id: 1, method, params: {} });
    expect([method, status < 500]).toEqual([method, true]);
    expect(text).toContain('-32601');
  }
});

it('pages of other origins are refused, the installation’s own is not', async () => {
  for (const origin of ['https://evil.example', 'null', `${BASE_URL}.evil.example`, 'http://assent.example', app.url]) {
    const answer = await post(LIST, { origin });
    expect([origin, answer.status, json(answer.text)['error_code']]).toEqual([origin, 403, 'PERMISSION_DENIED']);
  }
  expect((await post(LIST, { origin: BASE_URL })).status).toBe(200);
});

it('GET and DELETE are a 405 with Allow, which the client reads as: no stream, no session', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
    const response = await fetch(`${app.url}/api/mcp`, { method, headers: { authorization: `Bearer ${token}` } });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST, OPTIONS']);
    expect(await response.json()).toEqual(expect.objectContaining(bothKinds(null, 'METHOD_NOT_ALLOWED')));
  }
});

it('401 without a credential, as everywhere, and without a hint of OAuth; 403 to a signed-in person', async () => {
  const revoked = await buildToken(app, owner, ['admin:*'], { revoked_at: new Date() });
  for (const authorization of [null, 'Bearer x', `Bearer ${revoked}`, 'Basic eDp5']) {
    const answer = await post(LIST, { authorization });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(json(answer.text)).toEqual(expect.objectContaining(bothKinds(null, 'AUTHENTICATION_REQUIRED')));
  }
  const person = await buildPerson(app);
  const answer = await post(LIST, { authorization: `Bearer ${person.token}` });
  expect([answer.status, json(answer.text)['message']]).toEqual([403, 'Personal access tokens only']);
});

it('a token without mcp_only works here too', async () => {
  const authorization = `Bearer ${await buildToken(app, owner, ['tasks:read'])}`;
  expect((await post(LIST, { authorization })).status).toBe(200);
});

it('the official client raises what a refusal says', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/api/mcp', app.url), {
    requestInit: { headers: { authorization: `Bearer ${owner.token}` } },
  });
  await expect(client.connect(transport)).rejects.toThrow(/Personal access tokens only/);
});

it('a client that goes away in the middle leaves the next one served', async () => {
  const { hostname, port } = new URL(app.url);
  const headers = {
    accept: ACCEPT,
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'content-length': '5000',
  };
  const gone = request({ hostname, port, path: '/api/mcp', method: 'POST', headers });
  gone.on('error', () => undefined);
  gone.write('{"jsonrpc":"2.0"');
  await new Promise((resolve) => gone.once('socket', (socket) => socket.once('connect', resolve)));
  gone.destroy();
  expect((await post(LIST)).status).toBe(200);
});
