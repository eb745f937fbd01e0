import { defineStatement, run } from '../../../../db/statement.js';
import { peopleOfCaller } from '../../../platform/access/people-of-caller.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { newWebhookSecret, prefixOfSecret, sealWebhookSecret } from '../../webhooks/secret.js';
import { findAddress, lockBinding } from './read-address.js';
import { recordAddressChange } from './record-address-change.js';
import type { ForgeAddress, ForgeAddressWithSecret } from './schema.js';

/** $1 = binding id, $2 = prefix, $3 = data key, $4 = secret, $5 = caller, $6 = users who hold it. No row if it has an address. */
const makeStatement = defineStatement({
  name: 'make_forge_address',
  text: /* sql */ `
    insert into forge_addresses (binding_id, secret_prefix, data_key, sealed_value, created_by, held_by)
    values ($1, $2, $3, $4, $5, $6::uuid[]) on conflict (binding_id) do nothing returning secret_id`,
});

/**
 * Makes the address to which a bound repository sends its deliveries, and the secret that signs them, which is only in this response. Who
 * makes it could sign anything, so they are among the users behind what its deliveries start
 * (docs/decisions/integrations.md#addresses-of-bindings).
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT it has an address
 */
export function makeAddress(ctx: Context, bindingId: string): Promise<ForgeAddressWithSecret> {
  const secret = newWebhookSecret();
  const prefix = prefixOfSecret(secret);
  return inTransaction(ctx, async (ctx) => {
    const binding = await lockBinding(ctx, bindingId);
    const { data_key, sealed_value } = sealWebhookSecret(ctx.config, bindingId, secret);
    const held = [requireUser(ctx), await peopleOfCaller(ctx)];
    const made = await run(ctx.db, makeStatement, [bindingId, prefix, data_key, sealed_value, ...held]);
    if (made.length === 0) {
      throw conflict('The binding has an address already', { detail: 'Rotate its secret, or remove the address first.' });
    }
    await recordAddressChange(ctx, binding, 'make', { secret_prefix: prefix });
    return { ...((await findAddress(ctx, bindingId)) as ForgeAddress), secret };
  });
}
