import type { Context } from '../../../platform/context.js';
import { isHostAllowed } from '../../../platform/http-client/host-patterns.js';
import { outboundPolicy } from '../../../platform/http-client/policy.js';
import { recordUse } from '../../secrets/record-use.js';
import { type RenderedSecrets, renderSecrets } from '../../secrets/render-secrets.js';
import { UpstreamFailure, UpstreamSession } from '../client/session.js';
import type { UpstreamRow } from './read-upstreams.js';

/** A session that has not begun, and the secret values that its answers must not show. */
export interface OpenUpstream {
  session: UpstreamSession;
  secrets: ReadonlySet<string>;
}

const HOUR_MS = 3_600_000;
/** When the use of secrets was last recorded, by server and token. */
const recorded = new Map<string, number>();

/** Records the use of secrets once an hour for each server and token. */
async function noteUse(ctx: Context, { upstream_id, team_id, url }: UpstreamRow, names: readonly string[]): Promise<void> {
  const key = `${upstream_id} ${ctx.actor.type === 'pat' ? ctx.actor.tokenId : ''}`;
  const now = Date.now();
  if (now - (recorded.get(key) ?? 0) < HOUR_MS) return;
  if (recorded.size > 10_000) recorded.clear();
  recorded.set(key, now);
  for (const name of names) await recordUse(ctx, team_id, name, 'read', { upstream_id, host: new URL(url).host });
}

/**
 * Prepares a session with a server: puts the values of secrets into its headers. The value is opened in the process that serves the agent, because a call
 * that passes through cannot wait for a workflow (docs/adr/0029-mcp-gateway.md).
 * @throws UpstreamFailure `secret_missing`, `secret_host_refused`
 */
export async function openUpstream(ctx: Context, upstream: UpstreamRow): Promise<OpenUpstream> {
  const { team_id, url, headers } = upstream;
  const refuse = (code: string, message: string): never => {
    throw new UpstreamFailure(code, message, false);
  };
  const host = new URL(url);
  const check = (found: RenderedSecrets['found']): void => {
    const refused = found.find(({ allowed_hosts }) => allowed_hosts.length > 0 && !isHostAllowed(allowed_hosts, host));
    if (refused) refuse('secret_host_refused', `${host.host} is not an allowed host of the secret ${refused.name}`);
  };
  const { value, found, secrets } = await renderSecrets(ctx, team_id, headers, { check, refuse });
  if (found.length > 0)
    await noteUse(
      ctx,
      upstream,
      found.map(({ name }) => name),
    );
  const session = new UpstreamSession(outboundPolicy(ctx.config), url, value as Record<string, string>, secrets);
  return { session, secrets };
}
