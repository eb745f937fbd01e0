import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { AuditAction } from '../../../platform/changes/audit-actions.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, invalid, notFound } from '../../../platform/errors.js';
import { OutboundFailure } from '../../../platform/http-client/failure.js';
import { outboundPolicy } from '../../../platform/http-client/policy.js';
import { parseDestination } from '../../../platform/http-client/send-request.js';
import { newId } from '../../../platform/ids.js';
import { checkTemplates, findPaths, findSecretHandles } from '../../language/template.js';
import { UpstreamFailure } from '../client/session.js';
import { listTools, type SeenTool } from '../client/tools.js';
import { openUpstream } from './open-upstream.js';
import { findUpstream, presentUpstream, type UpstreamRow } from './read-upstreams.js';
import type { CreateUpstream, PinTool, UpdateUpstream, Upstream } from './schema.js';
import {
  deleteUpstreamStatement,
  insertUpstreamStatement,
  pinToolStatement,
  seeToolsStatement,
  updateUpstreamStatement,
} from './upstreams.sql.js';

const MAX_UPSTREAMS = 20;
/** Secrets that a server is sent: each is looked for in all that it answers. */
const MAX_SECRETS = 20;

const record = (
  ctx: Context,
  { upstream_id, team_id }: Pick<UpstreamRow, 'upstream_id' | 'team_id'>,
  action: AuditAction,
  details: Record<string, unknown>,
): Promise<string> =>
  recordChange(ctx, {
    team_id,
    feature: 'requests',
    action,
    severity: 'HIGH',
    entity_type: 'mcp_upstream',
    entity_id: upstream_id,
    details,
  });

/** @throws INVALID_REQUEST the address, or a template that is no secret */
function check(ctx: Context, { url, headers }: Pick<CreateUpstream, 'url' | 'headers'>): void {
  const templates = checkTemplates(headers);
  if (!templates.ok) throw invalid(`headers.${templates.path}: ${templates.message}`);
  if (url.includes('{{') || findPaths(headers).length > 0)
    throw invalid('Only {{secret:NAME}} in a header may stand in double braces');
  if (findSecretHandles(headers).length > MAX_SECRETS) throw invalid(`The headers name more than ${MAX_SECRETS} secrets`);
  try {
    parseDestination(outboundPolicy(ctx.config), url);
  } catch (error) {
    if (error instanceof OutboundFailure) throw invalid(error.message, { extra: { reason: error.reason } });
    throw error;
  }
}

/** Reads the tools of a server. No transaction is open meanwhile. Returns a problem in words instead of throwing it. */
async function see(ctx: Context, upstream: UpstreamRow): Promise<{ seen: SeenTool[] } | { problem: string }> {
  try {
    const { session } = await openUpstream(ctx, upstream);
    await session.open();
    return { seen: [...(await listTools(session)).values()] };
  } catch (error) {
    if (error instanceof UpstreamFailure) return { problem: error.message };
    throw error;
  }
}

async function store(ctx: Context, upstreamId: string, seen: readonly SeenTool[], pinnedBy: string | null): Promise<void> {
  const tools = seen.map(({ name, definition, hash }) => ({ name, definition, hash: hash.toString('hex') }));
  await run(ctx.db, seeToolsStatement, [upstreamId, JSON.stringify(tools), pinnedBy]);
}

/** Reads the tools of a server anew. `pins`: those of a new server are pinned, to be asked about. */
async function look(ctx: Context, upstream: UpstreamRow, pins: boolean): Promise<Upstream> {
  const found = await see(ctx, upstream);
  if ('problem' in found) return presentUpstream(ctx, upstream, found.problem);
  await store(ctx, upstream.upstream_id, found.seen, pins ? requireUser(ctx) : null);
  return presentUpstream(ctx, { ...upstream, checked_at: new Date() });
}

/**
 * Registers a server and pins its tools as they are now, all to be asked about.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | INVALID_REQUEST the address or a header | RESOURCE_CONFLICT the slug is taken, or 20 servers
 */
export async function createUpstream(ctx: Context, input: CreateUpstream): Promise<Upstream> {
  const { team_id, slug, url, headers, hold_seconds, offers_tasks } = input;
  const upstream_id = newId();
  const row = await inTransaction(ctx, async (ctx) => {
    authorize('gateway.manage', await seatInTeam(ctx, team_id));
    check(ctx, input);
    const settings = [JSON.stringify(headers), hold_seconds, offers_tasks];
    const values = [upstream_id, team_id, slug, url, ...settings, requireUser(ctx), MAX_UPSTREAMS];
    const [made] = await run(ctx.db, insertUpstreamStatement, values).catch((error: unknown) => {
      if ((error as { constraint?: unknown }).constraint !== 'mcp_upstreams_team_id_slug_key') throw error;
      throw conflict('The team has a server of this slug');
    });
    if (!made) throw conflict(`The team has ${MAX_UPSTREAMS} servers`);
    await record(ctx, { upstream_id, team_id }, 'create', { slug, host: new URL(url).host, headers: Object.keys(headers) });
    return findUpstream(ctx, upstream_id, 'gateway.manage');
  });
  return look(ctx, row, true);
}

/** Compares the tools of a server with the pinned ones. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin */
export async function refreshUpstream(ctx: Context, upstreamId: string): Promise<Upstream> {
  const upstream = await findUpstream(ctx, upstreamId, 'gateway.manage');
  const seen = await look(ctx, upstream, false);
  await inTransaction(ctx, (ctx) =>
    record(ctx, upstream, 'read', { changed: seen.tools.filter(({ state }) => state !== 'pinned').map(({ name }) => name) }),
  );
  return seen;
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin */
export function updateUpstream(ctx: Context, upstreamId: string, input: UpdateUpstream): Promise<Upstream> {
  return inTransaction(ctx, async (ctx) => {
    const upstream = await findUpstream(ctx, upstreamId, 'gateway.manage');
    const { hold_seconds = null, is_active = null, offers_tasks = null } = input;
    await run(ctx.db, updateUpstreamStatement, [upstreamId, hold_seconds, is_active, offers_tasks]);
    await record(ctx, upstream, 'update', { ...input });
    return presentUpstream(ctx, await findUpstream(ctx, upstreamId, 'gateway.manage'));
  });
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin */
export function deleteUpstream(ctx: Context, upstreamId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const upstream = await findUpstream(ctx, upstreamId, 'gateway.manage');
    await run(ctx.db, deleteUpstreamStatement, [upstreamId]);
    await record(ctx, upstream, 'delete', { slug: upstream.slug });
  });
}

/**
 * Pins exactly the definition with this hash, with what a call of it needs.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT `tool_changed`: the server shows another definition
 */
export function pinTool(ctx: Context, upstreamId: string, name: string, { policy, tool_hash }: PinTool): Promise<Upstream> {
  return inTransaction(ctx, async (ctx) => {
    const upstream = await findUpstream(ctx, upstreamId, 'gateway.manage');
    const hash = Buffer.from(tool_hash.slice('sha256:'.length), 'hex');
    const { tools } = await presentUpstream(ctx, upstream);
    if (!tools.some((tool) => tool.name === name)) throw notFound('Tool');
    const [pinned] = await run(ctx.db, pinToolStatement, [upstreamId, name, policy, hash, requireUser(ctx)]);
    if (!pinned) throw conflict('The server shows another definition of the tool', { extra: { reason: 'tool_changed' } });
    await record(ctx, upstream, 'update', { tool: name, policy, tool_hash });
    return presentUpstream(ctx, upstream);
  });
}
