import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { performRequest } from '../../../../api/automation/requests/perform-request.js';
import { buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { about } from '../../../factories/requests.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { ECHO, type McpUpstream, startUpstream } from '../../../../scripts/chaos/gateway/mcp-upstream.js';

// How clients of both eras wait for a person, each as the protocol's own client does it.

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
let app: TestApp;
let team: TestTeam;
let server: McpUpstream;
let token: string;
beforeAll(async () => {
  app = await startApp({ OUTBOUND_LOOPBACK: 'allow' }, 60_000);
});
afterAll(() => app.close());
const clients: Client[] = [];
beforeEach(async () => {
  team = await buildTeam(app);
  server = await startUpstream();
  token = await buildToken(app, team.member, ['requests:create', 'requests:read']);
});
afterEach(async () => {
  server.close();
  for (const client of clients.splice(0)) await client.close();
});

let slugs = 0;
async function register(fields: object = {}): Promise<{ upstream_id: string; tools: { tool_hash: string }[]; problem: string }> {
  slugs += 1;
  const body = { team_id: team.team_id, slug: `agents-${slugs}`, url: server.url, hold_seconds: 0, ...fields };
  return (await app.as(team.admin).post('/api/mcp/upstreams', body)).body;
}
const addressOf = ({ upstream_id }: { upstream_id: string }) => new URL(`/api/mcp/gateway/${upstream_id}`, app.url);

async function connect(upstream: { upstream_id: string }, era: string, capabilities: object = {}): Promise<Client> {
  const negotiation = era === MODERN ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'agent', version: '1' }, { ...negotiation, capabilities: capabilities as never });
  clients.push(client);
  await client.connect(
    new StreamableHTTPClientTransport(addressOf(upstream), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  return client;
}

let ids = 0;
/** Sends one message of the newer era, with what the client says of itself. */
async function send(upstream: { upstream_id: string }, method: string, params: Record<string, unknown>, can: object, by = token) {
  ids += 1;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': can,
  };
  const name = params['name'] ?? params['taskId'];
  const response = await fetch(addressOf(upstream), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${by}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ids, method, params: { ...params, _meta } }),
  });
  return JSON.parse(await response.text());
}

const requests = () => app.services.db('change_requests').where({ team_id: team.team_id }).orderBy('created_at');
async function waitForRequest(): Promise<string> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const row = await requests().first();
    if (row) return row.request_id;
    if (Date.now() > deadline) throw new Error('the agent has asked for nothing');
  }
}
async function decide(requestId: string, verb: 'approve' | 'reject' = 'approve') {
  const { body } = await app.as(team.manager).get(`/api/change-requests/${requestId}`);
  await about(app.as(team.manager), body)[verb]();
  if (verb === 'approve') await performRequest(app.services, requestId);
}
const HELLO = { name: 'echo', arguments: { text: 'hello' } };
const SAID = [{ type: 'text', text: '{"text":"hello"}' }];

describe('a client that asks for progress', () => {
  it.each([LEGACY, MODERN])(
    'hears every five seconds that the call waits, in %s',
    async (era) => {
      const client = await connect(await register({ hold_seconds: 25 }), era);
      const heard: { progress: number; message?: string | undefined }[] = [];
      const answer = client.callTool(HELLO, {
        onprogress: (progress) => {
          heard.push(progress);
          if (heard.length === 1) void waitForRequest().then((id) => decide(id));
        },
      });
      expect((await answer).content).toEqual(SAID);
      expect(heard).toHaveLength(1);
      expect(heard[0]).toMatchObject({ progress: 5, message: expect.stringContaining('/app/approvals/request/') });
      expect(server.calls).toHaveLength(1);
    },
    30_000,
  );

  it('goes away while the call waits: the request stays, and the service goes on', async () => {
    const upstream = await register({ hold_seconds: 6 });
    const gone = new AbortController();
    const _meta = { progressToken: 1 };
    const sent = fetch(addressOf(upstream), {
      method: 'POST',
      signal: gone.signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': LEGACY,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...HELLO, _meta } }),
    });
    const requestId = await waitForRequest();
    const { body } = await sent;
    gone.abort();
    await expect(body?.getReader().read()).rejects.toThrow();
    await new Promise((resolve) => {
      setTimeout(resolve, 6_500);
    });
    expect((await requests())[0]).toMatchObject({ status: 'pending' });
    await decide(requestId);
    // The wait of the client that left must not take the result.
    const client = await connect(upstream, MODERN);
    expect((await client.callTool(HELLO)).content).toEqual(SAID);
    expect(server.calls).toHaveLength(1);
  }, 30_000);
});

describe('a call that was asked about', () => {
  it('keeps its result for a client that left while it waited, and calls again', async () => {
    const upstream = await register({ hold_seconds: 25 });
    const gone = new AbortController();
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': LEGACY,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: HELLO });
    const sent = fetch(addressOf(upstream), { method: 'POST', signal: gone.signal, headers, body });
    const requestId = await waitForRequest();
    gone.abort();
    await expect(sent).rejects.toThrow();
    await decide(requestId);
    await new Promise((resolve) => {
      setTimeout(resolve, 1_500);
    });
    const client = await connect(upstream, MODERN);
    expect((await client.callTool(HELLO)).content).toEqual(SAID);
    expect(await requests()).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  }, 30_000);

  it('does not pass through when an admin has allowed the tool since', async () => {
    const upstream = await register();
    const can = { elicitation: { url: {} } };
    const { requestState } = (await send(upstream, 'tools/call', HELLO, can)).result;
    await decide((await requests())[0].request_id);
    const path = `/api/mcp/upstreams/${upstream.upstream_id}/tools/echo`;
    await app.as(team.admin).put(path, { policy: 'allow', tool_hash: upstream.tools[0]?.tool_hash });
    expect((await send(upstream, 'tools/call', HELLO, {})).result.content).toEqual(SAID);
    expect((await send(upstream, 'tools/call', { ...HELLO, requestState }, can)).result.content).toEqual(SAID);
    expect(server.calls).toHaveLength(1);
    await send(upstream, 'tools/call', HELLO, {});
    expect(server.calls).toHaveLength(2);
  });

  it('is known to the server that it was asked of only', async () => {
    const upstream = await register();
    const other = await register();
    const { request_id } = (await send(upstream, 'tools/call', HELLO, {})).result.structuredContent;
    const foreign = await send(other, 'tools/call', { name: 'assent_result', arguments: { request_id } }, {});
    expect(foreign.result.structuredContent).toMatchObject({ error_code: 'RESOURCE_NOT_FOUND' });
  });
});

describe('a client that opens pages', () => {
  it('is given the page of the decision, calls again, and gets the result of the same request', async () => {
    const upstream = await register({ hold_seconds: 25 });
    const client = await connect(upstream, MODERN, { elicitation: { url: {} } });
    const shown: unknown[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      shown.push(params);
      await decide(await waitForRequest());
      return { action: 'accept' };
    });
    expect((await client.callTool(HELLO)).content).toEqual(SAID);
    const [row] = await requests();
    expect(shown).toEqual([
      expect.objectContaining({
        mode: 'url',
        url: expect.stringMatching(new RegExp(`/app/approvals/request/${row.request_id}$`)),
      }),
    ]);
    expect(await requests()).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  });

  it('brings what it was given for another call, or makes it up: nothing is asked and nothing is shown', async () => {
    const upstream = await register();
    const can = { elicitation: { url: {} } };
    const { result } = await send(upstream, 'tools/call', HELLO, can);
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { decision: { method: 'elicitation/create' } } });
    const { requestState } = result;
    const other = { name: 'echo', arguments: { text: 'other' } };
    for (const [call, state] of [
      [other, requestState],
      [HELLO, 'made-up'],
      [HELLO, `${requestState}x`],
    ]) {
      const answer = await send(upstream, 'tools/call', { ...(call as object), requestState: state }, can);
      expect(answer.result.structuredContent).toMatchObject({ error_code: 'INVALID_REQUEST', reason: 'invalid_request_state' });
    }
    const stranger = await buildToken(app, team.manager, ['requests:create']);
    const foreign = await send(upstream, 'tools/call', { ...HELLO, requestState }, can, stranger);
    expect(foreign.result.structuredContent).toMatchObject({ error_code: 'INVALID_REQUEST' });
    expect(await requests()).toHaveLength(1);
    // Not decided yet: it waits as any client does, and the page is not shown again.
    const again = await send(upstream, 'tools/call', { ...HELLO, requestState }, can);
    expect(again.result.structuredContent).toMatchObject({ status: 'pending' });
    await decide((await requests())[0].request_id);
    // A repeat whose answer was lost reads the result again and asks nobody anew.
    for (let time = 0; time < 2; time += 1)
      expect((await send(upstream, 'tools/call', { ...HELLO, requestState }, can)).result.content).toEqual(SAID);
    expect(await requests()).toHaveLength(1);
    expect(server.calls).toHaveLength(1);
  });

  it('does not declare it: it waits as any client', async () => {
    const upstream = await register();
    for (const can of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
      const { result } = await send(upstream, 'tools/call', HELLO, can);
      expect(result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'pending' } });
    }
    expect(await requests()).toHaveLength(1);
  });
});

describe('a client with the extension for tasks', () => {
  const can = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

  it('gets a task where an admin has turned them on, and its client settles it', async () => {
    const upstream = await register({ offers_tasks: true });
    const agent = promisify(execFile)(process.execPath, ['test/api/automation/gateway/tasks-client.mjs'], {
      env: { ...process.env, NODE_OPTIONS: '', GATEWAY_URL: addressOf(upstream).href, GATEWAY_TOKEN: token },
    });
    await decide(await waitForRequest());
    const { outcome, sent } = JSON.parse((await agent).stdout);
    expect(outcome).toMatchObject({ status: 'completed', result: { content: SAID } });
    expect([sent[0], sent.at(-1)]).toEqual(['tools/call', 'tasks/get']);
    expect(server.calls).toHaveLength(1);
  }, 30_000);

  it('reads and takes back its own tasks only', async () => {
    const upstream = await register({ offers_tasks: true });
    const { result } = await send(upstream, 'tools/call', HELLO, can);
    expect(result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 5_000 });
    const { taskId } = result;
    const stranger = await buildToken(app, team.manager, ['requests:create']);
    for (const method of ['tasks/get', 'tasks/cancel'])
      for (const [id, by] of [
        [taskId, stranger],
        [team.team_id, token],
        ['no id', token],
      ] as const)
        expect((await send(upstream, method, { taskId: id }, can, by)).error).toMatchObject({ code: -32_602 });
    expect((await send(upstream, 'tasks/get', { taskId }, can)).result).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining(`/app/approvals/request/${taskId}`),
    });
    expect((await send(upstream, 'tasks/cancel', { taskId }, can)).result).toMatchObject({ resultType: 'complete' });
    expect((await send(upstream, 'tasks/get', { taskId }, can)).result).toMatchObject({ status: 'cancelled' });
    expect((await send(upstream, 'tasks/cancel', { taskId }, can)).result).toMatchObject({ resultType: 'complete' });
    // A cancelled call is over: the same call is a new one.
    const again = (await send(upstream, 'tools/call', HELLO, can)).result;
    expect(again.status).toBe('working');
    expect(again.taskId).not.toBe(taskId);
    expect(server.calls).toEqual([]);
  });

  it('learns of a no as the result of its call', async () => {
    const upstream = await register({ offers_tasks: true });
    const { taskId } = (await send(upstream, 'tools/call', HELLO, can)).result;
    await decide(taskId, 'reject');
    expect((await send(upstream, 'tasks/get', { taskId }, can)).result).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { status: 'rejected' } },
    });
    expect(server.calls).toEqual([]);
  });

  it('gets none where they are off, nor does a client that does not declare it', async () => {
    const upstream = await register();
    expect((await send(upstream, 'tools/call', HELLO, can)).result.structuredContent).toMatchObject({ status: 'pending' });
    expect((await send(upstream, 'tasks/get', { taskId: team.team_id }, can)).error).toMatchObject({ code: -32_601 });
    const { body } = await app.as(team.admin).patch(`/api/mcp/upstreams/${upstream.upstream_id}`, { offers_tasks: true });
    expect(body).toMatchObject({ offers_tasks: true });
    expect((await send(upstream, 'tools/call', HELLO, {})).result.structuredContent).toMatchObject({ status: 'pending' });
  });
});

describe('a server without sessions', () => {
  it('is spoken to in its version: its tools are read, asked about, called, and passed through', async () => {
    server.close();
    server = await startUpstream([ECHO, { ...ECHO, name: 'écho' }], { stateless: true });
    const upstream = await register();
    expect([upstream.problem, upstream.tools.length]).toEqual([null, 2]);
    const client = await connect(upstream, MODERN);
    await client.callTool(HELLO);
    await decide(await waitForRequest());
    expect((await client.callTool(HELLO)).content).toEqual(SAID);
    const tool_hash = upstream.tools[1]?.tool_hash;
    const path = `/api/mcp/upstreams/${upstream.upstream_id}/tools/${encodeURIComponent('écho')}`;
    expect((await app.as(team.admin).put(path, { policy: 'allow', tool_hash })).status).toBe(200);
    expect((await client.callTool({ name: 'écho', arguments: { text: 'hello' } })).content).toEqual(SAID);
    expect(server.calls.map(({ name, headers }) => [name, headers['mcp-name']])).toEqual([
      ['echo', 'echo'],
      ['écho', `=?base64?${Buffer.from('écho').toString('base64')}?=`],
    ]);
  });
});
