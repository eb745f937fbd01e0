import { z } from 'zod';
import { RISKS } from '../contract/action-type.js';
import { Timestamp } from '../../platform/fields.js';

/** A field of an action, in words. */
const FieldLine = z.object({
  name: z.string(),
  before: z.string().nullable().meta({ description: 'Null for a creation, or if it had no value' }),
  after: z.string().nullable().meta({ description: 'Null for a deletion, or if it gets no value' }),
  kind: z.enum(['text', 'long', 'id', 'json']),
  asked: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'Value when the approval was asked for, if `before` is another one by now' }),
});
export type FieldLine = z.output<typeof FieldLine>;

/** One action that waits for a yes, in words. Every value that it sends or writes is in a field. */
export const ActionLine = z
  .object({
    index: z.int(),
    type: z.string(),
    verb: z.string(),
    title: z.string().nullable().meta({ description: 'Title of the target, or of what is created' }),
    href: z.string().nullable().meta({ description: 'Page of the target' }),
    risk: z.enum(RISKS),
    reversible: z.boolean(),
    is_deletion: z.boolean().meta({ description: 'The fields show what goes' }),
    fields: z.array(FieldLine),
    refused: z.string().nullable().meta({ description: 'Why it would be refused now' }),
    skipped: z
      .string()
      .nullable()
      .meta({ description: 'Why it is not performed: its condition skips it, or it would change nothing' }),
    changed: z
      .object({
        by: z.string().nullable(),
        at: Timestamp.nullable(),
        summary: z.string().nullish().meta({ description: 'Such as `changed status, tags`' }),
      })
      .nullable()
      .meta({ description: 'A change of the target since it was staged; null if there is none' }),
  })
  .meta({ id: 'ActionLine' });
export type ActionLine = z.output<typeof ActionLine>;
