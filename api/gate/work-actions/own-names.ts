import { z } from 'zod';
import type { Context } from '../../platform/context.js';
import { type FieldError, invalidFields } from '../../platform/errors.js';
import { isUuid } from '../../platform/ids.js';
import { foldName, quoteName } from '../../platform/validation/given-name.js';
import { Text } from '../../platform/fields.js';
import { checkValue, parseValue } from '../../work/custom-fields/check-value.js';
import { InvalidValue } from '../../work/custom-fields/field-types.js';
import { listFields } from '../../work/custom-fields/list-fields.js';
import { type CustomFieldRecord, FieldValue, type SetCustomFieldValue } from '../../work/custom-fields/schema.js';
import { findPlaces } from '../../work/graph/item-place.js';
import { findStages } from '../../work/tasks/stages/find-stages.js';
import type { Fields } from './action.js';

/** What a team names itself, as a machine gives it: a stage, and values of custom fields, by id or by name. */
const MAX_NAME = 128;
/** Values that one action may set, as one request. */
const MAX_VALUES = 100;

/** A stage by its id or its name. */
export const StageName = Text.max(MAX_NAME).nullish().meta({
  description:
    'The id or the name of a stage of the team of the task; it sets the status too, and a change of the status alone clears it',
});

/** Values of custom fields by the key, the name or the id of the field. */
export const FieldValues = z
  .record(Text.max(MAX_NAME), FieldValue)
  .refine((values) => Object.keys(values).length <= MAX_VALUES, `must have at most ${MAX_VALUES} entries`)
  .meta({
    description: 'Values of custom fields of the task by the key of each; `null` clears one',
    example: { severity: 'high' },
  });

interface Named {
  stage_id?: string | null | undefined;
  custom_fields?: Readonly<Record<string, z.output<typeof FieldValue>>> | undefined;
}

const wrong = (field: string, message: string): FieldError => ({ field: `body.${field}`, message, type: 'custom' });

/** Returns the stage of an id or a name; undefined if none has it. */
export const findStageNamed = <S extends { stage_id: string; name: string }>(
  stages: readonly S[],
  given: string,
): S | undefined =>
  isUuid(given)
    ? stages.find(({ stage_id }) => stage_id === given.toLowerCase())
    : stages.find(({ name }) => foldName(name) === foldName(given));

/** @throws VALIDATION_ERROR the team has no stage of this name */
async function resolveStage(ctx: Context, teamId: string, name: string): Promise<string> {
  const found = findStageNamed(await findStages(ctx, [teamId]), name);
  if (found) return found.stage_id;
  throw invalidFields([wrong('stage_id', `No stage of the team is called ${quoteName(name)}`)]);
}

/**
 * Finds a field by its id, else by its key, else by its name. An id is never a name: what was staged by it would be done to another field, once its own is
 * gone and another is called so.
 * @throws VALIDATION_ERROR none, or several of the name
 */
function findField(fields: readonly CustomFieldRecord[], given: string): CustomFieldRecord {
  const [found, another] = isUuid(given)
    ? fields.filter(({ field_id }) => field_id === given.toLowerCase())
    : ([fields.filter(({ key }) => key === given), fields.filter(({ name }) => foldName(name) === foldName(given))].find(
        (some) => some.length > 0,
      ) ?? []);
  const place = `custom_fields.${given}`;
  if (found && another) throw invalidFields([wrong(place, `Several fields are called ${quoteName(given)}: use the key of one`)]);
  if (found) return found;
  throw invalidFields([wrong(place, `The tasks of the team have no field that is called ${quoteName(given)}`)]);
}

type Given = SetCustomFieldValue['value'];

/**
 * Returns the value that a text stands for, such as a template leaves it. A choice counts by its label too, unless the field is given by its id: what was
 * staged as the value of a choice would be that of another one, once its own is gone and another is labeled so.
 */
function readText({ field_type, options }: CustomFieldRecord, value: Given, byLabel: boolean): Given {
  const choose = (text: string): string => {
    if (!byLabel || options.some((one) => one.value === text)) return text;
    return options.find(({ label }) => foldName(label) === foldName(text))?.value ?? text;
  };
  if (Array.isArray(value)) return value.map(choose);
  if (typeof value !== 'string') return value;
  const read = parseValue(field_type, value, (text) => text.split(/[\n,]/).map((one) => choose(one.trim())));
  return typeof read === 'string' ? choose(read) : read;
}

/** Returns a value as it is stored; one that does not fit its field as it is, for the operation says what is wrong with it. */
function readValue(field: CustomFieldRecord, value: Given, byLabel: boolean): Given {
  const read = readText(field, value, byLabel);
  const checked = read === null ? null : checkValue(field, read);
  return checked instanceof InvalidValue ? read : checked;
}

async function resolveFields(ctx: Context, teamId: string, given: NonNullable<Named['custom_fields']>) {
  const fields = await listFields(ctx, { team_id: teamId, entity_type: 'task' });
  const found = Object.entries(given).map(([name, value]): [string, Given] => {
    const field = findField(fields, name);
    return [field.field_id, readValue(field, value, !isUuid(name))];
  });
  return Object.fromEntries(found);
}

/**
 * Returns what names of a team mean in parameters about one of its items: the id of the stage, and the values of custom fields by the ids of the fields.
 * Only what the parameters give; ids stay as they are, and the operation refuses what they do not fit.
 * @param itemId the task; the project of a new one
 * @throws VALIDATION_ERROR a name that the team does not have, or one of several fields. A caller who is not in the team learns no more
 */
export async function resolveOwnNames(ctx: Context, itemId: string, { stage_id, custom_fields }: Named): Promise<Fields> {
  const isNamed = typeof stage_id === 'string' && !isUuid(stage_id);
  if (!isNamed && custom_fields === undefined) return {};
  // No team has this id: nothing of it is listed.
  const teamId = (await findPlaces(ctx, [itemId])).get(itemId)?.team_id ?? '00000000-0000-0000-0000-000000000000';
  return {
    ...(isNamed && { stage_id: await resolveStage(ctx, teamId, stage_id) }),
    ...(custom_fields && { custom_fields: await resolveFields(ctx, teamId, custom_fields) }),
  };
}
