import { type Context, inTransaction, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { recordConnection } from './record-connection.js';
import { findProvider } from './registry.js';

/**
 * Forgets the caller's connection and its tokens. What was allowed at the service is taken back there.
 * @throws RESOURCE_NOT_FOUND no such service, or not connected
 * Source: decision F13.
 */
export function disconnect(ctx: Context, key: string): Promise<void> {
  const { label } = findProvider(key);
  return inTransaction(ctx, async (ctx) => {
    const [gone] = await ctx
      .db('integration_connections')
      .where({ user_id: userOf(ctx), provider: key })
      .delete()
      .returning<{ account: string }[]>('account');
    if (!gone) throw notFound(`Connection to ${label}`);
    await recordConnection(ctx, key, 'delete', { account: gone.account });
  });
}
