import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../caller.js';
import type { Ledger } from '../ledger.js';
import { CANARY } from '../loads/request-load.js';
import { seededRandom } from '../random.js';
import { SECRET, SECRET_NAME, type World } from '../world.js';
import { startUpstream } from './mcp-upstream.js';

/** An MCP server behind the gateway that remembers each call which it performed. */
export interface Recorder {
  acts: Ledger['acts'];
  /** Calls that no honest gateway sends. */
  surprises: string[];
  /** Removes it from the gateway. */
  unregister: () => Promise<void>;
  close: () => void;
}

/** The tool that people are asked about, and the one that passes through. */
export const ASKED = 'act';
export const PASSED = 'look';

/** Arguments of a call. Each one has an id, so that the server's record can be compared with the rows. */
export const buildArguments = (call_id: string) => ({ call_id, words: CANARY });

/** Parts of the calls that are slow, refused by the protocol, answered as an error of the tool, and cut off, all after their work was done. */
const SLOW = 0.4;
const REFUSED = 0.05;
const FAILED = 0.1;
const CUT_OFF = 0.05;
const MAX_MS = 1_500;

/** Seconds that a call waits for a person: shorter than a caller's timeout. */
const HOLD_SECONDS = 2;

/**
 * Registers the server before the load, with a secret in its headers and both tools pinned. `acts`: is continued. The world learns its address behind
 * the gateway.
 * @throws Error for any response but the expected success
 */
export async function startRecorder(caller: Caller, world: World, seed: number, acts: Ledger['acts'] = []): Promise<Recorder> {
  const surprises: string[] = [];
  const random = seededRandom(seed);
  const inputSchema = { type: 'object', properties: { call_id: { type: 'string' }, words: { type: 'string' } } } as const;
  const server = await startUpstream([ASKED, PASSED].map((name) => ({ name, description: `Chaos, ${name}`, inputSchema })));
  server.answer(async (given, headers, { name, cutOff }) => {
    const { call_id, words } = given as Partial<ReturnType<typeof buildArguments>>;
    // The caller may die before the work, and after it.
    if (random.chance(SLOW)) await sleep(random.between(0, MAX_MS));
    acts.push({ call_id: call_id ?? '', tool: name });
    if (headers['x-key'] !== SECRET || words !== CANARY) surprises.push(`a call of ${name} came without its secret or arguments`);
    if (random.chance(SLOW)) await sleep(random.between(0, MAX_MS));
    if (random.chance(CUT_OFF)) cutOff();
    // It says the secret in each answer, as careless servers do.
    if (random.chance(REFUSED)) throw new Error(`refused with the key ${SECRET}`);
    return { content: [{ type: 'text', text: `did ${call_id} with ${SECRET}` }], isError: random.chance(FAILED) };
  });
  const call = async (method: string, path: string, body: object) => {
    const answer = await caller.untilKnown({ method, path, token: world.admin, body });
    if (answer && answer.status < 300)
      return answer.body as { upstream_id: string; tools: { name: string; tool_hash: string }[] };
    throw new Error(`${method} ${path} answered ${answer?.status}: ${JSON.stringify(answer?.body)}`);
  };
  const { upstream_id, tools } = await call('POST', '/api/mcp/upstreams', {
    team_id: world.teamId,
    slug: `chaos-${new URL(server.url).port}`,
    url: server.url,
    headers: { 'x-key': `{{secret:${SECRET_NAME}}}` },
    hold_seconds: HOLD_SECONDS,
  });
  const path = `/api/mcp/upstreams/${upstream_id}`;
  const tool_hash = tools.find(({ name }) => name === PASSED)?.tool_hash;
  await call('PUT', `${path}/tools/${PASSED}`, { policy: 'allow', tool_hash });
  world.gateway = `/api/mcp/gateway/${upstream_id}`;
  return {
    acts,
    surprises,
    async unregister() {
      await caller.untilKnown({ method: 'DELETE', path, token: world.admin });
    },
    close: server.close,
  };
}
