import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { endConnections } from './end-connections.js';
import { recordConnection } from './record-connection.js';
import { findProvider } from './registry.js';

/**
 * Deletes the caller's connection. A workflow revokes its tokens at the service, now or when it is reachable again.
 * @throws RESOURCE_NOT_FOUND no such service, or not connected
 */
export function disconnect(ctx: Context, key: string): Promise<void> {
  const { label } = findProvider(key);
  return inTransaction(ctx, async (ctx) => {
    const [account] = await endConnections(ctx, requireUser(ctx), key);
    if (account === undefined) throw notFound(`Connection to ${label}`);
    await recordConnection(ctx, key, 'delete', { account });
  });
}
