import { type Context, requireUser } from '../../platform/context.js';
import { findConnections } from './connections.js';
import { listProviders } from './registry.js';
import type { Integration } from './schema.js';

/** Lists every service that can be connected, with the caller's connections. */
export async function listIntegrations(ctx: Context): Promise<Integration[]> {
  const connections = await findConnections(ctx, requireUser(ctx));
  return listProviders().map(({ key, label, settings }) => {
    const connection = connections.get(key);
    return {
      key,
      label,
      connected: connection !== undefined,
      available: settings(ctx.config) !== undefined,
      scopes_granted: connection?.scopes ?? [],
      account: connection?.account ?? null,
    };
  });
}
