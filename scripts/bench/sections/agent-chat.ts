import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BODY_LENGTH, buildData, COMMENT_LENGTH, COMMENTS } from '../../../api/agent/providers/prompt/build-data.js';
import { buildPrompt } from '../../../api/agent/providers/prompt/build-prompt.js';
import { newNonce } from '../../../api/agent/providers/prompt/fence.js';
import { Handles } from '../../../api/agent/providers/prompt/handles.js';
import { readLinkedWorld } from '../../../api/agent/providers/reading/read-linked-items.js';
import { v7 as uuidv7 } from 'uuid';
import { call } from '../client.js';
import type { Goal, Result, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Service, Servers } from '../servers.js';
import { quantile } from '../statistics.js';
import { baselineRuns, withWorkers } from './automations.js';

const CHATS = 100;
const WARM_UP = 20;
/** As many as one user may have. */
const IN_FLIGHT = 10;
const PROMPTS = 100;

type Call = [name: string, input: object];

/** An answer of a model in the form of OpenAI. */
const answer = (...calls: Call[]): string => {
  const tool_calls = calls.map(([name, input], at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = { role: 'assistant', content: 'I propose it.', tool_calls };
  const usage = { prompt_tokens: 900, completion_tokens: 60 };
  return JSON.stringify({ choices: [{ index: 0, finish_reason: 'tool_calls', message }], usage });
};
const READ = answer(['read_item', { item: 'T1' }]);
const PROPOSED = answer(
  ['task_set_status', { task_id: 'T1', status: 'in_progress' }],
  ['task_comment', { task_id: 'T1', content: 'Begun' }],
);

/** A stand-in for a provider that answers at once: first a read, then two proposals. */
async function startModel(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(body.includes('"role":"tool"') ? PROPOSED : READ);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

/** Creates sessions with one linked task each. Staged plans of earlier rounds expire: a team has a limited number. */
async function createSessions({ db }: Servers, { userId, tasks }: World, count: number): Promise<string[]> {
  await db('agent_plans').where({ status: 'staged' }).update({ status: 'expired' });
  const rows = Array.from({ length: count }, () => ({ kind: 'chat', owner_id: userId, title: 'Bench' }));
  const made = await db('agent_sessions').insert(rows).returning<{ session_id: string }[]>('session_id');
  const links = made.map(({ session_id }, at) => ({ session_id, item_type: 'task', item_id: tasks[at], linked_by: userId }));
  await db('agent_links').insert(links);
  return made.map(({ session_id }) => session_id);
}

/** Sends one message to each session, some at a time, and returns the milliseconds of each answer. */
async function chat(api: Service, world: World, sessions: string[], inFlight: number): Promise<number[]> {
  const left = [...sessions];
  const latencies: number[] = [];
  const lane = async () => {
    for (let session_id = left.pop(); session_id !== undefined; session_id = left.pop()) {
      const from = performance.now();
      const { body } = await call(api, world, 'POST', '/api/ai-workspace/chat', { session_id, message: 'start this' });
      latencies.push(performance.now() - from);
      if (body['requires_confirmation'] !== true) throw new Error(`No plan: ${JSON.stringify(body)}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return latencies;
}

const line = (what: string, all: number[]): string =>
  `${what}: p50 ${quantile(all, 0.5).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms`;
const below = (what: string, value: number, goal: number): Goal => ({ what, value, goal, better: 'less', unit: ' ms' });

/** A message answered by the rules with a plan, from request to response, beside a bare workflow with one local activity. */
export const chatByRulesSection: Section = (servers, world, { rounds }) =>
  withWorkers(servers, world, async ({ api, floor }): Promise<Result[]> => {
    const bare = (count: number, inFlight: number) =>
      baselineRuns(floor, { count, inFlight, pauseMs: 0, inserts: 1, kind: 'local' });
    const timed = async (count: number, inFlight: number): Promise<{ latencies: number[]; rate: number }> => {
      const sessions = await createSessions(servers, world, count);
      const from = performance.now();
      const latencies = await chat(api, world, sessions, inFlight);
      return { latencies, rate: (latencies.length / (performance.now() - from)) * 1_000 };
    };
    await timed(WARM_UP, 1);
    await bare(WARM_UP, 1);
    const single: number[] = [];
    const floorSingle: number[] = [];
    const shares: number[] = [];
    for (let i = 0; i < rounds; i += 1) {
      single.push(...(await timed(Math.ceil(CHATS / rounds), 1)).latencies);
      floorSingle.push(...(await bare(Math.ceil(CHATS / rounds), 1)).latencies);
      const [product, base] = [await timed(CHATS, IN_FLIGHT), await bare(CHATS, IN_FLIGHT)];
      shares.push(product.rate / (base.latencies.length / base.seconds));
    }
    const share = quantile(shares, 0.5);
    const goals: Goal[] = [
      below('p50', quantile(single, 0.5), 35),
      below('p99', quantile(single, 0.99), 150),
      { what: `share of the rate of the baseline, ${IN_FLIGHT} in flight`, value: share, goal: 0.5, better: 'more', unit: '' },
    ];
    return [{ name: 'POST chat by rules, one in flight', goals, notes: [line('product', single), line('floor', floorSingle)] }];
  });

/** A message answered in two steps by a model that answers at once. */
export const chatByModelSection: Section = async (servers, world) => {
  const { url, server } = await startModel();
  const settings = { AI_PROVIDER: 'openai_compatible', AI_MODEL: 'stand-in', AI_BASE_URL: url };
  await servers.db('agent_settings').insert({ team_id: world.teamId, external_model: true }).onConflict('team_id').merge();
  try {
    const measure = async ({ api }: { api: Service }): Promise<Result[]> => {
      await chat(api, world, await createSessions(servers, world, WARM_UP), 1);
      const all = await chat(api, world, await createSessions(servers, world, CHATS), 1);
      const goals = [below('p50', quantile(all, 0.5), 120)];
      return [{ name: 'POST chat by a model of two steps, one in flight', goals, notes: [line('product', all)] }];
    };
    return await withWorkers(servers, world, measure, settings);
  } finally {
    server.closeAllConnections();
    server.close();
    await servers.db('agent_settings').where({ team_id: world.teamId }).delete();
  }
};

/** Creates a session that links 50 notes of 20 kB. */
async function createLongSession({ db }: Servers, { userId, teamId }: World): Promise<string> {
  const content = 'Pressure, seals, and the note of the last inspection. '.repeat(380);
  const ids = Array.from({ length: 50 }, () => uuidv7());
  await db('item_keys').insert(ids.map((item_id) => ({ item_id, item_type: 'note' })));
  const note = { item_type: 'note', kind: 'note', team_id: teamId, title: 'Inspection', content, created_by: userId };
  await db('items').insert(ids.map((item_id) => ({ ...note, item_id })));
  const [session] = await db('agent_sessions')
    .insert({ kind: 'chat', owner_id: userId, title: 'Bench' })
    .returning<{ session_id: string }[]>('session_id');
  const session_id = session?.session_id as string;
  await db('agent_links').insert(ids.map((item_id) => ({ session_id, item_type: 'note', item_id, linked_by: userId })));
  return session_id;
}

/** The prompt of 50 linked notes with 20 kB of text each: read in one statement, and built in this process. */
export const promptSection: Section = async (servers, world) => {
  const session = await createLongSession(servers, world);
  const actor = { type: 'proposer', userId: world.userId, email: 'bench@bench.test', role: 'user' } as const;
  const took: number[] = [];
  for (let i = 0; i < PROMPTS; i += 1) {
    const from = performance.now();
    const limits = { textLength: BODY_LENGTH, comments: COMMENTS, commentLength: COMMENT_LENGTH };
    const linked = await readLinkedWorld({ db: servers.db, actor }, session, limits);
    const data = buildData(linked, new Handles(), world.userId, 36_000);
    buildPrompt({ nonce: newNonce(), today: '2026-11-22 (Sunday)', data, history: [], message: 'Hello', steps: [] });
    took.push(performance.now() - from);
  }
  const goals = [below('p50', quantile(took, 0.5), 15)];
  return [{ name: 'prompt of 50 notes of 20 kB, read and built', goals, notes: [line('product', took)] }];
};
