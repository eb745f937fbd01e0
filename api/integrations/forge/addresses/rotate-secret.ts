import { defineStatement, run } from '../../../../db/statement.js';
import { peopleOfCaller } from '../../../platform/access/people-of-caller.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { OVERLAP_HOURS } from '../../webhooks/rotate-secret.js';
import { newWebhookSecret, prefixOfSecret, sealWebhookSecret } from '../../webhooks/secret.js';
import { findAddress, lockBinding } from './read-address.js';
import { recordAddressChange } from './record-address-change.js';
import type { ForgeAddress, ForgeAddressWithSecret, RotateSecret } from './schema.js';

/** $1 = binding id, $2 = prefix, $3 = data key, $4 = secret, $5 = caller, $6 = users who hold it. */
const rotateStatement = defineStatement({
  name: 'rotate_forge_secret',
  text: /* sql */ `
    update forge_addresses set secret_id = uuidv7(), secret_prefix = $2, data_key = $3, sealed_value = $4, created_by = $5, held_by = $6::uuid[],
      created_at = now(), previous_data_key = data_key, previous_sealed_value = sealed_value, previous_held_by = held_by,
      previous_until = now() + interval '${OVERLAP_HOURS} hours'
    where binding_id = $1`,
});

/**
 * Replaces the secret of an address. The one before also counts for 24 hours; an older one ends at once. The new secret is only in this
 * response.
 * @throws RESOURCE_NOT_FOUND no such binding, or it has no address | PERMISSION_DENIED below admin | RESOURCE_CONFLICT the secret is not
 * the one that the caller replaces
 */
export function rotateSecret(ctx: Context, bindingId: string, { replaces }: RotateSecret): Promise<ForgeAddressWithSecret> {
  const secret = newWebhookSecret();
  const prefix = prefixOfSecret(secret);
  return inTransaction(ctx, async (ctx) => {
    const binding = await lockBinding(ctx, bindingId);
    const before = await findAddress(ctx, bindingId);
    if (!before) throw notFound('Address');
    if (replaces != null && replaces !== before.secret_id) {
      throw conflict('The secret has changed since', { detail: 'Reload to see who made the new one.' });
    }
    const { data_key, sealed_value } = sealWebhookSecret(ctx.config, bindingId, secret);
    const held = [requireUser(ctx), await peopleOfCaller(ctx)];
    await run(ctx.db, rotateStatement, [bindingId, prefix, data_key, sealed_value, ...held]);
    await recordAddressChange(ctx, binding, 'rotate', { secret_prefix: prefix, overlap_hours: OVERLAP_HOURS });
    return { ...((await findAddress(ctx, bindingId)) as ForgeAddress), secret };
  });
}
