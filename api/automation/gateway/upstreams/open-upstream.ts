import type { Context } from '../../../platform/context.js';
import { isHostAllowed } from '../../../platform/http-client/host-patterns.js';
import { outboundPolicy } from '../../../platform/http-client/policy.js';
import { findSecretHandles, renderTemplates } from '../../language/template.js';
import { recordUse } from '../../secrets/record-use.js';
import { findSecrets, openSecrets } from '../../secrets/vault.js';
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
  const names = findSecretHandles(headers);
  const found = await findSecrets(ctx, team_id, names);
  const missing = names.find((name) => !found.some((secret) => secret.name === name));
  if (missing !== undefined) throw new UpstreamFailure('secret_missing', `The team has no secret ${missing}`, false);
  const host = new URL(url);
  const refused = found.find(({ allowed_hosts }) => allowed_hosts.length > 0 && !isHostAllowed(allowed_hosts, host));
  if (refused)
    throw new UpstreamFailure('secret_host_refused', `${host.host} is not an allowed host of the secret ${refused.name}`, false);
  const values = openSecrets(ctx.config, team_id, found);
  const rendered = renderTemplates(headers, {}, { secrets: (name) => values.get(name) });
  if (!rendered.ok) throw new UpstreamFailure(rendered.code, rendered.message, false);
  if (names.length > 0) await noteUse(ctx, upstream, names);
  const secrets = new Set(values.values());
  const session = new UpstreamSession(outboundPolicy(ctx.config), url, rendered.value as Record<string, string>, secrets);
  return { session, secrets };
}
