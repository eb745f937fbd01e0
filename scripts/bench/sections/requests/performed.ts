import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { call } from '../../client.js';
import { quiet } from '../../quiet.js';
import type { Result, Section } from '../../report.js';
import { bearer, expect, send } from '../../send.js';
import type { Service } from '../../servers.js';
import { baselineRuns, withWorkers } from '../automations.js';
import { buildCall, MESSAGE, register } from './gateway.js';
import { type OtherServer, startOtherServer } from './other-server.js';
import { about, type Asked, below, type Caller, hireBoth, Times } from './people.js';

const COUNT = 100;
const WARM_UP = 30;
const POLL_MS = 4;
const GIVE_UP_MS = 30_000;
/** Calls of an MCP server that Assent makes to call a tool: it opens a session, compares the tools, and calls. */
const MCP_CALLS = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
].map((message) => JSON.stringify(message));

/** Unix times in ms of what a performance does; `stored` is its commit. */
interface Marks {
  decided: number;
  used: number;
  stored: number;
}

/** Commit time of the result, and the times that the rows themselves hold; track_commit_timestamp is on. */
const MARKS = /* sql */ `
  select extract(epoch from d.decided_at)::float8 * 1000 as decided, extract(epoch from r.ended_at)::float8 * 1000 as used,
    extract(epoch from pg_xact_commit_timestamp(s.xmin))::float8 * 1000 as stored
  from change_requests r join change_request_results s using (request_id) join change_request_decisions d using (request_id)
  where r.request_id = :id and r.outcome = 'succeeded'`;

/** Waits until the result of a request is stored. */
async function readMarks(db: Knex, id: string): Promise<Marks> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const { rows } = await db.raw<{ rows: Marks[] }>(MARKS, { id });
    if (rows[0]) return rows[0];
    await sleep(POLL_MS);
  }
  throw new Error(`Request ${id} has no result after ${GIVE_UP_MS / 1_000} s`);
}

/** A fresh connection for each call, as Assent opens them. */
const fresh = new Agent({ keepAlive: false });

/** Something that Assent performs after a yes, and the same done without Assent. */
interface Kind {
  name: string;
  ask: (nth: number) => Promise<Asked>;
  bare: (nth: number) => Promise<unknown>;
}

function buildKinds(api: Service, asker: Caller, other: OtherServer, path: string): Kind[] {
  const url = `http://127.0.0.1:${other.port}/deploy`;
  const about = { team_id: asker.teamId, title: 'Release 4.2' };
  const askHttp = async (nth: number): Promise<Asked> => {
    const body = { ...about, http: { method: 'POST', url, body: { version: nth } } };
    return (await call(api, asker, 'POST', '/api/change-requests', body)).body as unknown as Asked;
  };
  const askTool = async (nth: number): Promise<Asked> => {
    const sent = { method: 'POST', headers: { ...MESSAGE, ...bearer(asker) }, body: buildCall(nth) };
    const text = await (await fetch(`http://127.0.0.1:${api.port}${path}`, sent)).text();
    const id = /"request_id":"([0-9a-f-]{36})"/.exec(text)?.[1];
    if (id === undefined) throw new Error(`The gateway answered ${text}`);
    return (await call(api, asker, 'GET', `/api/change-requests/${id}`)).body as unknown as Asked;
  };
  const post = (at: string, body: string, status = 200) => expect(status, send(other.port, at, MESSAGE, body, fresh));
  const bareTool = async (nth: number) => {
    for (const [at, message] of MCP_CALLS.entries()) await post('/mcp', message, at === 1 ? 202 : 200);
    await post('/mcp', buildCall(nth));
  };
  return [
    { name: 'an HTTP request', ask: askHttp, bare: (nth) => post('/deploy', JSON.stringify({ version: nth })) },
    { name: 'a tool of an MCP server', ask: askTool, bare: bareTool },
  ];
}

const now = (): number => performance.timeOrigin + performance.now();

/** From the yes to the stored result of what Assent performs itself, beside a bare workflow and the bare call, one after the other. */
export const performedSection: Section = async (servers, world) => {
  const other = await startOtherServer();
  const settings = { OUTBOUND_LOOPBACK: 'allow' };
  try {
    return await withWorkers(
      servers,
      world,
      async ({ api, floor }) => {
        const [asker, approver] = await hireBoth(servers, world);
        const { path } = await register(api, world, other, 'ask');
        const kinds = buildKinds(api, asker, other, path);
        const results: Result[] = [];
        for (const kind of kinds) results.push(await measureKind(kind));
        return results;

        async function measureKind({ name, ask, bare }: Kind): Promise<Result> {
          const times = new Times(WARM_UP);
          for (let nth = 0; nth < COUNT + WARM_UP; nth += 1) {
            const order = { count: 1, inFlight: 1, pauseMs: 0, inserts: 1, kind: 'plain' } as const;
            times.add('bare workflow', (await baselineRuns(floor, order)).latencies[0] as number);
            await times.take('bare call', () => bare(nth));
            const asked = await ask(nth);
            // The workflow waits before the yes comes, as it does for a person.
            await quiet(servers.db);
            await sleep(100);
            const from = now();
            await about(api, approver, asked, 'approve');
            const marks = await readMarks(servers.db, asked.request_id);
            times.add('yes to stored result', marks.stored - from);
            times.add('  of it: to the decision', marks.decided - from);
            times.add('  decision to its use by the worker', marks.used - marks.decided);
            times.add('  use to arrival', other.arrivedAt() - marks.used);
            times.add('  arrival to stored result', marks.stored - other.arrivedAt());
          }
          return {
            name: `from the yes to the stored result of ${name}, one in flight`,
            goals: [below('p50', times.get('yes to stored result', 0.5), 120)],
            notes: times.describe(),
          };
        }
      },
      settings,
    );
  } finally {
    other.close();
  }
};
