import { z } from 'zod';
import { Id, TaskId, Text, Timestamp, Title } from '../../platform/fields.js';
import { byOffset } from '../../platform/endpoint/pages.js';
import { FIELD_ENTITIES, FIELD_TYPES, KEY, MAX_OPTIONS, MAX_VALUE_LENGTH } from './rules.js';

const MAX_POSITION = 1_000_000;
/** Values that one request may set. */
const MAX_VALUES = 100;

const Option = z.object({
  value: Title(80),
  label: Title(80).nullish().meta({ description: 'The value if it is absent' }),
  color: z
    .string()
    .regex(/^#[0-9A-Fa-f]{6}$/, 'must be a color such as #3366cc')
    .nullish(),
});
const Options = z
  .array(Option)
  .max(MAX_OPTIONS)
  .refine((options) => new Set(options.map(({ value }) => value)).size === options.length, 'must not name a value twice')
  .meta({ description: 'The choices of a select or multi_select field; a value that is no longer a choice stays' });
const Position = z.int().min(0).max(MAX_POSITION);

export const CreateCustomField = z
  .object({
    team_id: Id,
    name: Title(80),
    key: z
      .string()
      .regex(KEY, 'must begin with a letter a-z, and hold only a-z, 0-9 and _ (at most 63 characters)')
      .nullish()
      .meta({ description: 'Name in the API, unique in the team; made from the name if it is absent', example: 'severity' }),
    field_type: z.enum(FIELD_TYPES),
    entity_type: z.enum(FIELD_ENTITIES),
    options: Options.nullish(),
    required: z.boolean().nullish().meta({ description: 'A value cannot be cleared; items are created without it' }),
    position: Position.nullish().meta({ description: 'After the last field if it is absent' }),
  })
  .meta({ id: 'CreateCustomField' });
export type CreateCustomField = z.output<typeof CreateCustomField>;

export const UpdateCustomField = z
  .object({
    name: Title(80).optional(),
    options: Options.optional(),
    required: z.boolean().optional(),
    position: Position.optional(),
    is_archived: z.boolean().optional().meta({ description: 'The values of an archived field can be read, and not be set' }),
    team_id: z.string().optional().meta({ description: 'Cannot change' }),
    key: z.string().optional().meta({ description: 'Cannot change' }),
    field_type: z.string().optional().meta({ description: 'Cannot change' }),
    entity_type: z.string().optional().meta({ description: 'Cannot change' }),
  })
  .meta({ id: 'UpdateCustomField' });
export type UpdateCustomField = z.output<typeof UpdateCustomField>;

export const CustomFieldParams = z.object({ field_id: Id });
export const ListCustomFields = z.object({ team_id: Id, entity_type: z.enum(FIELD_ENTITIES).optional(), ...byOffset() });
export type ListCustomFields = z.output<typeof ListCustomFields>;

export const CustomFieldRecord = z
  .object({
    field_id: z.string(),
    team_id: z.string(),
    name: z.string(),
    key: z.string(),
    field_type: z.enum(FIELD_TYPES),
    entity_type: z.enum(FIELD_ENTITIES),
    options: z.array(z.object({ value: z.string(), label: z.string(), color: z.string().nullable() })),
    required: z.boolean(),
    position: z.int(),
    is_archived: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'CustomField' });
export type CustomFieldRecord = z.output<typeof CustomFieldRecord>;

export const DeletedCustomField = z
  .object({
    success: z.literal(true),
    field_id: z.string(),
    deleted_values: z.int().meta({ description: 'Values that were deleted with it' }),
  })
  .meta({ id: 'DeletedCustomField' });

const ValueText = Text.max(MAX_VALUE_LENGTH);
export const FieldValue = z
  .union([ValueText, z.number(), z.boolean(), z.array(ValueText).max(MAX_OPTIONS), z.null()])
  .meta({ description: 'By the type of the field; null clears it', example: 'high' });

const SetCustomFieldValue = z
  .object({ field_id: Id, entity_type: z.enum(FIELD_ENTITIES), entity_id: TaskId, value: FieldValue })
  .meta({ id: 'SetCustomFieldValue' });
export type SetCustomFieldValue = z.output<typeof SetCustomFieldValue>;

export const SetCustomFieldValues = z.union([SetCustomFieldValue, z.array(SetCustomFieldValue).min(1).max(MAX_VALUES)]);

export const ListCustomFieldValues = z.object({ entity_type: z.enum(FIELD_ENTITIES), entity_id: TaskId });
export type ListCustomFieldValues = z.output<typeof ListCustomFieldValues>;

export const CustomFieldValue = z
  .object({
    value_id: z.string().nullable().meta({ description: 'null for a value that was cleared' }),
    field_id: z.string(),
    key: z.string(),
    entity_type: z.enum(FIELD_ENTITIES),
    entity_id: z.string(),
    value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]),
    updated_by: z.string(),
    updated_at: Timestamp,
  })
  .meta({ id: 'CustomFieldValue' });
export type CustomFieldValue = z.output<typeof CustomFieldValue>;
export const CustomFieldValues = z.union([CustomFieldValue, z.array(CustomFieldValue)]);
