import { z } from 'zod';
import { Id, Timestamp } from '../../../platform/fields.js';

export const RotateSecret = z
  .object({
    replaces: Id.nullish().meta({
      description: 'The `secret_id` that it replaces; any other is a 409. When absent, whatever there is',
    }),
  })
  .meta({ id: 'RotateForgeSecret' });
export type RotateSecret = z.output<typeof RotateSecret>;

const addressFields = {
  binding_id: z.string(),
  url: z.url().meta({ description: 'Payload URL, for the webhook at the code host' }),
  secret_id: z.string().meta({ description: 'New with each secret' }),
  secret_prefix: z.string().meta({ description: 'Beginning of the secret' }),
  previous_until: Timestamp.nullable().meta({ description: 'Until then the secret before also counts' }),
  created_by: z
    .string()
    .meta({ description: 'Who made the secret, and counts as a user behind the runs that its deliveries start' }),
  created_at: Timestamp.meta({ description: 'When the secret was made' }),
  connected_at: Timestamp.nullable().meta({ description: 'First delivery with a valid signature' }),
  last_delivery_at: Timestamp.nullable(),
  last_event: z.string().nullable().meta({ description: 'Event header of the last delivery' }),
  last_refused_at: Timestamp.nullable().meta({ description: 'Last delivery with a wrong or missing signature' }),
};
export const ForgeAddress = z.object(addressFields).meta({ id: 'ForgeAddress' });
export type ForgeAddress = z.output<typeof ForgeAddress>;

export const ForgeAddressWithSecret = z
  .object({ ...addressFields, secret: z.string().meta({ description: 'It is only in this response' }) })
  .meta({ id: 'ForgeAddressWithSecret' });
export type ForgeAddressWithSecret = z.output<typeof ForgeAddressWithSecret>;

export const RemovedAddress = z.object({ success: z.literal(true), binding_id: z.string() }).meta({ id: 'RemovedForgeAddress' });
