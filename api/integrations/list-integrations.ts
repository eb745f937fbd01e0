import { type Context, userOf } from '../core/context.js';
import { connectionsOf } from './connections.js';
import { listProviders } from './registry.js';
import type { Integration } from './schema.js';

/** Every service that can be connected, and the caller's connections. Source: decision F13. */
export async function listIntegrations(ctx: Context): Promise<Integration[]> {
  const connections = await connectionsOf(ctx, userOf(ctx));
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
