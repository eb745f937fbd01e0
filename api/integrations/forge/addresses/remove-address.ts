import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { lockBinding } from './read-address.js';
import { recordAddressChange } from './record-address-change.js';

/** $1 = binding id. With what came to the address. */
const removeStatement = defineStatement({
  name: 'remove_forge_address',
  text: 'delete from forge_addresses where binding_id = $1 returning binding_id',
});

/**
 * Removes the address of a binding: deliveries there are refused from then on. The binding stays.
 * @throws RESOURCE_NOT_FOUND no such binding, or it has no address | PERMISSION_DENIED below admin
 */
export function removeAddress(ctx: Context, bindingId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const binding = await lockBinding(ctx, bindingId);
    const removed = await run(ctx.db, removeStatement, [bindingId]);
    if (removed.length === 0) throw notFound('Address');
    await recordAddressChange(ctx, binding, 'revoke');
  });
}
