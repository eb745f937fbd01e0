import type { Section } from '../../report.js';
import { call } from '../../client.js';
import { metered } from '../../process-table.js';
import { bearer, expect, send } from '../../send.js';
import type { World } from '../../seed.js';
import type { Servers, Service } from '../../servers.js';
import { type OtherServer, startOtherServer, TOOL } from './other-server.js';
import { below, type Caller, hire, Times } from './people.js';

const CALLS = 800;
const WARM_UP = 200;

/** Headers of a message, as an agent sends them. */
export const MESSAGE = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': '2025-11-25',
};

/** The message that calls the tool. */
export const buildCall = (nth: number): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: nth + 1,
    method: 'tools/call',
    params: { name: TOOL.name, arguments: { text: `pressure of tank ${nth}` } },
  });

/** Puts the server behind the gateway, with this policy for its tool. Returns the path that agents call. */
export async function register(
  api: Service,
  world: World,
  { port }: OtherServer,
  policy: 'allow' | 'ask',
): Promise<{ path: string; upstreamId: string }> {
  const slug = `other-${policy}`;
  const body = { team_id: world.teamId, slug, url: `http://127.0.0.1:${port}/mcp`, hold_seconds: 0 };
  const made = (await call(api, world, 'POST', '/api/mcp/upstreams', body)).body as {
    upstream_id: string;
    tools: { tool_hash: string }[];
  };
  const pin = { policy, tool_hash: made.tools[0]?.tool_hash };
  await call(api, world, 'PUT', `/api/mcp/upstreams/${made.upstream_id}/tools/${TOOL.name}`, pin);
  return { path: `/api/mcp/gateway/${made.upstream_id}`, upstreamId: made.upstream_id };
}

/** Requires that an agent gets what the tool returns. */
async function checkAnswer(api: Service, path: string, caller: Caller): Promise<void> {
  const headers = { ...MESSAGE, ...bearer(caller) };
  const text = await (await fetch(`http://127.0.0.1:${api.port}${path}`, { method: 'POST', headers, body: buildCall(0) })).text();
  if (!text.includes('pressure of tank 0') || text.includes('isError')) throw new Error(`The gateway answered ${text}`);
}

/** A call that passes through the gateway, beside the same call of the same server, one after the other, without a worker. */
export const gatewaySection: Section = async (servers: Servers, world) => {
  const other = await startOtherServer();
  const api = await servers.startApi({ OUTBOUND_LOOPBACK: 'allow' });
  try {
    const { path } = await register(api, world, other, 'allow');
    const caller = await hire(servers, world, 'member', ['requests:create']);
    await checkAnswer(api, path, caller);
    const times = new Times(WARM_UP);
    const headers = { ...MESSAGE, ...bearer(caller) };
    const play = async (from: number, to: number) => {
      for (let nth = from; nth < to; nth += 1) {
        await times.take('direct', () => expect(200, send(other.port, '/mcp', MESSAGE, buildCall(nth))));
        await times.take('gateway', () => expect(200, send(api.port, path, headers, buildCall(nth))));
      }
    };
    await play(0, WARM_UP);
    const { cpu } = await metered({ api: api.cpu, postgres: servers.postgresCpu }, () => play(WARM_UP, WARM_UP + CALLS));
    const each = (seconds: number) => ((1_000 * seconds) / CALLS).toFixed(2);
    const more = (q: number) => times.get('gateway', q) - times.get('direct', q);
    return [
      {
        name: 'a call that passes through the gateway, beside the call itself, one connection',
        goals: [below('p50, more than direct', more(0.5), 5), below('p95, more than direct', more(0.95), 15)],
        notes: [...times.describe(), `CPU ms of a call: API ${each(cpu.api)}, PostgreSQL ${each(cpu.postgres)}`],
      },
    ];
  } finally {
    await api.stop();
    other.close();
  }
};
