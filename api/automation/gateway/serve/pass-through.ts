import { run } from '../../../../db/statement.js';
import { canonicalJson, computeHash } from '../../../gate/staging/canonical.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { cleanResult, type ToolResult } from '../client/result.js';
import { UpstreamFailure } from '../client/session.js';
import { listTools } from '../client/tools.js';
import { type OpenUpstream, openUpstream } from '../upstreams/open-upstream.js';
import type { ToolRow, UpstreamRow } from '../upstreams/read-upstreams.js';
import { markToolStatement, noteCallStatement } from '../upstreams/upstreams.sql.js';
import type { GatewayCall } from './gateway.js';

/** How long a session with a server is kept, and how long its tools are taken for the same, ms. */
const SESSION_MS = 600_000;
const COMPARE_MS = 60_000;
const MAX_SESSIONS = 200;
/** Calls under way: of one team, of one user in all teams, and of all. */
const MAX_OF_TEAM = 10;
const MAX_OF_USER = 20;
const MAX_OF_PROCESS = 100;

interface Kept extends OpenUpstream {
  at: number;
  comparedAt: number;
  tools: Map<string, string>;
  forget: () => void;
}

/** Sessions of this process by server and what its headers were made from. */
const sessions = new Map<string, Kept>();
const underWay = new Map<string, number>();
let total = 0;

/** @throws RATE_LIMIT_EXCEEDED */
function enter(teamId: string, userId: string): () => void {
  const count = (id: string): number => underWay.get(id) ?? 0;
  if (count(teamId) >= MAX_OF_TEAM || count(userId) >= MAX_OF_USER || total >= MAX_OF_PROCESS)
    throw new DomainError('RATE_LIMIT_EXCEEDED', 'Too many calls of yours or of the team are under way', {
      headers: { 'Retry-After': '1' },
    });
  for (const id of [teamId, userId]) underWay.set(id, count(id) + 1);
  total += 1;
  return () => {
    for (const id of [teamId, userId]) {
      if (count(id) <= 1) underWay.delete(id);
      else underWay.set(id, count(id) - 1);
    }
    total -= 1;
  };
}

/** Returns an open session with a server. @throws UpstreamFailure */
async function findSession(ctx: Context, upstream: UpstreamRow): Promise<Kept> {
  const opened = await openUpstream(ctx, upstream);
  const key = computeHash(
    'assent.session.v1\n',
    canonicalJson([upstream.upstream_id, upstream.url, [...opened.secrets], upstream.headers]),
  ).toString('hex');
  const kept = sessions.get(key);
  if (kept && Date.now() - kept.at < SESSION_MS) return kept;
  await opened.session.open();
  if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value ?? '');
  const made: Kept = { ...opened, at: Date.now(), comparedAt: 0, tools: new Map(), forget: () => sessions.delete(key) };
  sessions.set(key, made);
  return made;
}

/** Compares a tool with the pinned one, once a minute. @throws RESOURCE_CONFLICT `tool_changed` */
async function compare(ctx: Context, kept: Kept, upstream: UpstreamRow, tool: ToolRow): Promise<void> {
  if (Date.now() - kept.comparedAt > COMPARE_MS) {
    const seen = await listTools(kept.session);
    kept.tools = new Map([...seen].map(([name, { hash }]) => [name, hash.toString('hex')]));
    kept.comparedAt = Date.now();
    const now = seen.get(tool.name);
    if (!now || tool.tool_hash?.equals(now.hash) !== true)
      await run(ctx.db, markToolStatement, [upstream.upstream_id, tool.name, now?.definition ?? null, now?.hash ?? null]);
  }
  if (kept.tools.get(tool.name) === tool.tool_hash?.toString('hex')) return;
  throw conflict('The server shows another definition of this tool than an admin has pinned', {
    extra: { reason: 'tool_changed' },
  });
}

/**
 * Calls a tool that an admin allows without asking.
 * @throws RATE_LIMIT_EXCEEDED | RESOURCE_CONFLICT `tool_changed` | UpstreamFailure
 */
export async function passThrough({ ctx, upstream, tool, given, tokenId }: GatewayCall): Promise<ToolResult> {
  const leave = enter(upstream.team_id, requireUser(ctx));
  const began = performance.now();
  let end = 'failed';
  let kept: Kept | undefined;
  try {
    kept = await findSession(ctx, upstream);
    await compare(ctx, kept, upstream, tool);
    const result = await kept.session.request('tools/call', { name: tool.name, arguments: given });
    const cleaned = cleanResult(result, kept.secrets);
    end = cleaned.isError ? 'error' : 'answered';
    return cleaned;
  } catch (error) {
    if (error instanceof DomainError && error.extra['reason'] === 'tool_changed') end = 'changed';
    if (error instanceof UpstreamFailure) kept?.forget();
    throw error;
  } finally {
    leave();
    const hash = computeHash('assent.arguments.v1\n', canonicalJson(given));
    const ms = Math.round(performance.now() - began);
    await run(ctx.db, noteCallStatement, [upstream.upstream_id, tokenId, tool.name, hash, ms, end]);
  }
}
