import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';
import { ASKED, buildArguments, PASSED } from '../gateway/recorder.js';
import type { AgentCall } from '../ledger.js';
import { SECRET } from '../world.js';
import { buildToolCall, type ToolResult } from './mcp-request.js';
import { decide } from './request-load.js';

const AGAIN_MS = 200;
/** How long an agent waits after the load has ended. */
const GIVE_UP_MS = 120_000;
const PATH = '/api/change-requests';
/** Ends of a call of which nothing was performed, and of one whose outcome the service does not know or that failed before it was sent. */
const NOTHING = ['rejected', 'cancelled', 'expired', 'stale'];
const WITHOUT_RESULT = ['unknown', 'failed'];
/** What an agent is told when the same call may succeed later: it repeats it. */
const PASSING = ['INTERNAL_ERROR', 'RATE_LIMIT_EXCEEDED'];
/** What a call that passes through ends with when the server gave no result. */
const NO_RESULT = ['REFUSED', 'TIMEOUT', 'CONNECTION_FAILED', 'RESPONSE_INVALID', 'HTTP_STATUS'];

/** Returns whether an agent still waits: as long as the load goes on, and a while longer, because people decide for longer. */
function waitLimit({ goesOn }: Desk): () => boolean {
  let end = Date.now() + GIVE_UP_MS;
  return () => {
    if (goesOn()) end = Date.now() + GIVE_UP_MS;
    return Date.now() < end;
  };
}

/** Sends a call until it has an answer, and counts how often. No result: the time was up. */
async function send(desk: Desk, name: string, args: object): Promise<{ result?: ToolResult; sent: number }> {
  const { caller, world } = desk;
  const request = buildToolCall(world.gateway, world.asker, name, args);
  const waits = waitLimit(desk);
  for (let sent = 1; ; sent += 1) {
    const outcome = await caller.once(request);
    const result = outcome.known ? (outcome.body as { result?: ToolResult } | undefined)?.result : undefined;
    if (outcome.known && !result) surprise(desk, `call ${name} through the gateway`, outcome);
    if (JSON.stringify(result ?? null).includes(SECRET)) desk.surprises.push(`a result of ${name} says the secret`);
    const { error_code, message } = result?.structuredContent ?? {};
    if (message === 'Internal error') desk.surprises.push(`call ${name} through the gateway answered an internal error`);
    if (result && !PASSING.includes(String(error_code))) return { result, sent };
    if (!waits()) return { sent };
    await sleep(AGAIN_MS);
  }
}

/** Returns what an agent reads from a result; undefined for an answer that no rule explains. */
function readEnd({ content = [], structuredContent }: ToolResult, call_id: string): AgentCall['end'] | 'pending' | undefined {
  if (content.some(({ text }) => text?.startsWith(`did ${call_id}`))) return 'answered';
  const { status, error_code, reason } = structuredContent ?? {};
  if (status === 'pending') return 'pending';
  if (NOTHING.includes(String(status))) return 'nothing';
  if (WITHOUT_RESULT.includes(String(status)) || NO_RESULT.includes(String(error_code))) return 'lost';
  // Too many of the agent's calls wait while nothing decides them.
  return reason === 'too_many_open' ? 'lost' : undefined;
}

/** Waits for the end of a call, mostly by the tool for that, sometimes by the same call again as impatient clients do. */
async function awaitEnd(desk: Desk, call_id: string, first: ToolResult): Promise<Pick<AgentCall, 'end' | 'request_id'>> {
  const { random } = desk;
  const waits = waitLimit(desk);
  let request_id: string | null = null;
  for (let result: ToolResult | undefined = first; result; ) {
    request_id = (result.structuredContent?.['request_id'] as string | undefined) ?? request_id;
    const end = readEnd(result, call_id);
    if (end === undefined) surprise(desk, 'a call that is asked about', { status: 200, body: result });
    if (end !== 'pending') return { end: end ?? 'lost', request_id };
    if (!waits()) break;
    const again = random.chance(0.2);
    const [name, given] = again ? [ASKED, buildArguments(call_id)] : ['assent_result', { request_id }];
    // The end that the same call finds may be of a request that came later.
    if (again) request_id = null;
    ({ result } = await send(desk, name, given));
  }
  return { end: 'lost', request_id };
}

/** An agent calls a tool that people are asked about, sometimes twice at once, waits for the end, and now and then takes the call back. */
export async function callAsked(desk: Desk): Promise<void> {
  const { ledger, random } = desk;
  const call_id = uuidv7();
  const twice = random.chance(0.2);
  const [first] = await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => send(desk, ASKED, buildArguments(call_id))));
  if (!first?.result) return;
  const requestId = first.result.structuredContent?.['request_id'];
  if (requestId !== undefined && random.chance(0.15)) {
    await sleep(random.between(0, 2_000));
    await send(desk, 'assent_cancel', { request_id: requestId });
  }
  ledger.calls.push({ call_id, tool: ASKED, sent: first.sent, ...(await awaitEnd(desk, call_id, first.result)) });
}

/** An agent calls a tool that passes through. A call without a result is not repeated: the server may have performed it. */
export async function callPassed(desk: Desk): Promise<void> {
  const { ledger } = desk;
  const call_id = uuidv7();
  const { result, sent } = await send(desk, PASSED, buildArguments(call_id));
  const end = result && readEnd(result, call_id);
  if (result && end !== 'answered' && end !== 'lost') surprise(desk, 'a call that passes through', { status: 200, body: result });
  ledger.calls.push({ call_id, tool: PASSED, sent, end: end === 'answered' ? end : 'lost', request_id: null });
}

/** People decide about the calls that wait, most with a yes, sometimes two at once. */
export async function decideCalls(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const path = `${PATH}?team_id=${world.teamId}&status=pending&limit=100`;
  const listed = await caller.untilKnown({ method: 'GET', path, token: world.manager });
  const { requests = [] } = (listed?.body ?? {}) as {
    requests?: { request_id: string; request_hash: string; source: string }[];
  };
  if (listed && listed.status !== 200) surprise(desk, 'list change requests', listed);
  const waiting = requests.filter(({ source }) => source === 'gateway' && random.chance(0.6));
  await Promise.all(
    waiting.flatMap((request) => {
      const people = random.chance(0.2) ? [world.manager, world.admin] : [world.manager];
      return people.map((token) => decide(desk, token, request));
    }),
  );
}
