import { z } from 'zod';
import { Id, Timestamp } from '../../platform/fields.js';

export const MakeAddress = z
  .object({
    replaces: Id.nullish().meta({
      description: 'The `hook_id` that it replaces, or null for none; any other is a 409. When absent, whatever there is',
    }),
    signed: z
      .boolean()
      .nullish()
      .meta({ description: 'Calls must be signed as Standard Webhooks; else the address is the secret' }),
  })
  .meta({ id: 'MakeHookAddress' });
export type MakeAddress = z.output<typeof MakeAddress>;

const hookFields = {
  automation_id: z.string(),
  hook_id: z.string().meta({ description: 'New with each address' }),
  is_signed: z.boolean(),
  created_by: z.string().meta({ description: 'Who made the address, and counts as a user behind its runs' }),
  created_at: Timestamp,
  calls: z.int().meta({ description: 'Accepted calls, repetitions included' }),
  last_call_at: Timestamp.nullable(),
  last_refused_at: Timestamp.nullable(),
  last_refusal: z.string().nullable().meta({ description: 'Why the last refused call was refused' }),
};
export const HookRecord = z.object(hookFields).meta({ id: 'AutomationHook' });
export type HookRecord = z.output<typeof HookRecord>;

export const NewAddress = z
  .object({
    ...hookFields,
    url: z.url().meta({ description: 'The address. It is only in this response' }),
    secret: z.string().nullable().meta({ description: 'Signing secret, if calls must be signed. It is only in this response' }),
  })
  .meta({ id: 'NewHookAddress' });
export type NewAddress = z.output<typeof NewAddress>;

export const RemovedHook = z
  .object({ success: z.literal(true), automation_id: z.string() })
  .meta({ id: 'RemovedAutomationHook' });

export const HookParams = z.object({ token: z.string() });

/** The same for every automation and condition: a caller who holds the address learns nothing else. */
export const AcceptedCall = z
  .object({
    accepted: z.literal(true),
    delivery_id: z
      .string()
      .meta({ description: 'Correlation id of what the call causes; a repetition has that of the first call' }),
  })
  .meta({ id: 'AcceptedHookCall' });
export type AcceptedCall = z.output<typeof AcceptedCall>;
