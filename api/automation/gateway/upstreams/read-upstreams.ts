import { run } from '../../../../db/statement.js';
import { hashText } from '../../../gate/staging/canonical.js';
import { type Ability, authorize } from '../../../platform/access/access.js';
import { findSeat, seatInTeam } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { readDefinition } from '../client/tools.js';
import type { Upstream } from './schema.js';
import { listUpstreamsStatement, toolsStatement, upstreamStatement } from './upstreams.sql.js';

/** A registered server. */
export interface UpstreamRow extends Record<string, unknown> {
  upstream_id: string;
  team_id: string;
  slug: string;
  url: string;
  headers: Record<string, string>;
  hold_seconds: number;
  is_active: boolean;
  offers_tasks: boolean;
  checked_at: Date | null;
  created_by: string;
  created_at: Date;
}

/** A tool of it, as pinned and as seen. */
export interface ToolRow extends Record<string, unknown> {
  name: string;
  definition: string | null;
  tool_hash: Buffer | null;
  policy: Upstream['tools'][number]['policy'];
  state: Upstream['tools'][number]['state'];
  seen: string | null;
  seen_hash: Buffer | null;
  pinned_by: string | null;
  pinned_at: Date | null;
}

export const readTools = (ctx: Pick<Context, 'db'>, upstreamId: string): Promise<ToolRow[]> =>
  run<ToolRow>(ctx.db, toolsStatement, [upstreamId]);

const hashOrNull = (hash: Buffer | null): string | null => hash && hashText(hash);
const definitionOrNull = (text: string | null) => (text === null ? null : { ...readDefinition(text) });

function presentTool({ definition, tool_hash, seen, seen_hash, pinned_at, ...tool }: ToolRow): Upstream['tools'][number] {
  const differs = seen_hash !== null && (tool_hash === null || !seen_hash.equals(tool_hash));
  return {
    ...tool,
    definition: definitionOrNull(definition),
    tool_hash: hashOrNull(tool_hash),
    seen: differs ? definitionOrNull(seen) : null,
    seen_hash: differs ? hashOrNull(seen_hash) : null,
    pinned_at: pinned_at?.toISOString() ?? null,
  };
}

/** Returns a server as the API shows it. */
export async function presentUpstream(ctx: Context, row: UpstreamRow, problem: string | null = null): Promise<Upstream> {
  const { checked_at, created_at, ...upstream } = row;
  const tools = (await readTools(ctx, row.upstream_id)).map(presentTool);
  return { ...upstream, checked_at: checked_at?.toISOString() ?? null, created_at: created_at.toISOString(), problem, tools };
}

/** Returns a server of a team in which the caller has the ability. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED */
export async function findUpstream(ctx: Context, upstreamId: string, ability: Ability): Promise<UpstreamRow> {
  const [row] = await run<UpstreamRow>(ctx.db, upstreamStatement, [upstreamId]);
  if (!row) throw notFound('Upstream');
  authorize(ability, await findSeat(ctx, row.team_id));
  return row;
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member */
export const getUpstream = async (ctx: Context, upstreamId: string): Promise<Upstream> =>
  presentUpstream(ctx, await findUpstream(ctx, upstreamId, 'gateway.read'));

/** Lists the servers of a team. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member */
export async function listUpstreams(ctx: Context, teamId: string): Promise<Upstream[]> {
  authorize('gateway.read', await seatInTeam(ctx, teamId));
  const rows = await run<UpstreamRow>(ctx.db, listUpstreamsStatement, [teamId]);
  return Promise.all(rows.map((row) => presentUpstream(ctx, row)));
}
