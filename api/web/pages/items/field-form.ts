import { parseValue } from '../../../work/custom-fields/check-value.js';
import { FIELD_TYPE_RULES } from '../../../work/custom-fields/field-types.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import type { FieldEntity } from '../../../work/custom-fields/rules.js';
import type { CustomFieldRecord, CustomFieldValue } from '../../../work/custom-fields/schema.js';
import { listValues } from '../../../work/custom-fields/values/list-values.js';
import { changeValues } from '../../../work/custom-fields/values/set-values.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { conflict, type FieldError, invalidFields } from '../../../platform/errors.js';
import type { FieldChanges, Undo } from '../../server/undo.js';
import type { Fields } from '../../server/read-form.js';

/** A field of an item's team, with the item's value. */
export interface FieldWithValue extends CustomFieldRecord {
  input: (typeof FIELD_TYPE_RULES)[CustomFieldRecord['field_type']]['input'];
  value: CustomFieldValue['value'];
}

interface FieldedItem {
  item_id: string;
  type: string;
  team_id: string;
}

const hasFields = (type: string): type is FieldEntity => type === 'task' || type === 'project';

type SetFields = Extract<Undo, { kind: 'set_fields' }>;
type Entity = Pick<SetFields, 'type' | 'id'>;
type Values = ReadonlyMap<string, FieldWithValue['value']>;

/** Returns the values of an item by field. */
const readValues = async (ctx: Context, { type, id }: Entity): Promise<Values> =>
  new Map((await listValues(ctx, { entity_type: type, entity_id: id })).map(({ field_id, value }) => [field_id, value]));

/** Fields of a task or project with its values: those that can be set, and archived ones that have a value. */
export async function loadFields(ctx: Context, { item_id, type, team_id }: FieldedItem): Promise<FieldWithValue[]> {
  if (!hasFields(type)) return [];
  const [fields, valueByField] = await Promise.all([
    listFields(ctx, { team_id, entity_type: type }),
    readValues(ctx, { type, id: item_id }),
  ]);
  return fields
    .map((field) => ({
      ...field,
      input: FIELD_TYPE_RULES[field.field_type].input,
      value: valueByField.get(field.field_id) ?? null,
    }))
    .filter(({ is_archived, value }) => !is_archived || value !== null);
}

/** What a form shows of a value, and sends back: a list by one line an item. */
export const formText = (value: CustomFieldValue['value']): string =>
  Array.isArray(value) ? value.join('\n') : value === null ? '' : String(value);

/** Reads what was typed. */
const typedValue = ({ field_type }: CustomFieldRecord, typed: string) =>
  typed === '' ? null : parseValue(field_type, typed, (lines) => lines.split('\n'));

const textIn = (form: Fields, name: string): string | undefined => {
  const given = form[name];
  if (given === undefined) return undefined;
  return [given].flat().map(String).join('\n').replaceAll('\r\n', '\n');
};

/** A field that a form changed, with what was typed. */
interface Changed {
  field: CustomFieldRecord;
  typed: string;
}

/** Says what is wrong at the field of the form. @throws VALIDATION_ERROR */
function refuseAt(changed: readonly Changed[], error: unknown): never {
  const { detail } = toDomainError(error);
  const { errors = [] } = (typeof detail === 'object' ? detail : {}) as { errors?: FieldError[] };
  const placed = errors.flatMap(({ field: place, message, type }) => {
    const [, at = ''] = /^body\.(\d+)\./.exec(place) ?? [];
    const field = changed[Number(at)]?.field;
    if (at === '' || !field) return [];
    return [{ field: `field-${field.field_id}`, message: message.replace(`value of ${field.key}`, field.name), type }];
  });
  throw placed.length > 0 ? invalidFields(placed) : error;
}

/** @throws VALIDATION_ERROR a required field was emptied */
function checkRequired(changed: readonly Changed[]): void {
  const emptied = changed.filter(({ field, typed }) => field.required && typed === '');
  if (emptied.length === 0) return;
  throw invalidFields(
    emptied.map(({ field }) => ({ field: `field-${field.field_id}`, message: `${field.name} is required`, type: 'custom' })),
  );
}

/** Writes values of an item's fields, and returns what takes that back. @throws the errors of `setValues` */
async function writeValues(ctx: Context, { type, id }: Entity, given: [string, FieldWithValue['value']][]): Promise<SetFields> {
  const entity = { entity_type: type, entity_id: id };
  const written = await changeValues(
    ctx,
    given.map(([field_id, value]) => ({ field_id, ...entity, value })),
  );
  const values = written.map(({ record: { field_id, value }, before }): FieldChanges[number] => [field_id, value, before]);
  return { kind: 'set_fields', type, id, values };
}

/**
 * Sets the values that the user changed: what differs from what the form showed, so that nobody's change in between is undone unseen. Returns the names of
 * the fields, and what takes the change back.
 * @throws VALIDATION_ERROR names the field of the form | the errors of `setValues`
 */
export async function saveFields(
  ctx: Context,
  item: FieldedItem,
  form: Fields,
): Promise<{ names: string[]; undo: SetFields } | undefined> {
  const fields = (await listFields(ctx, item)).filter(({ is_archived }) => !is_archived);
  const changed = fields.flatMap((field): Changed[] => {
    const shown = textIn(form, `was-${field.field_id}`);
    const typed = textIn(form, `field-${field.field_id}`) ?? '';
    return shown === undefined || shown === typed ? [] : [{ field, typed }];
  });
  if (changed.length === 0) return undefined;
  checkRequired(changed);
  try {
    const given = changed.map(({ field, typed }): [string, FieldWithValue['value']] => [
      field.field_id,
      typedValue(field, typed),
    ]);
    const entity = { type: item.type as FieldEntity, id: item.item_id };
    const undo = await writeValues(ctx, entity, given);
    return { names: changed.map(({ field }) => field.name), undo };
  } catch (error) {
    return refuseAt(changed, error);
  }
}

/**
 * Gives fields of an item the values that they had before a change. Returns what takes that back.
 * @throws RESOURCE_CONFLICT a field has another value now | the errors of `setValues`
 */
export function revertFields(ctx: Context, { type, id, values }: SetFields): Promise<SetFields> {
  return inTransaction(ctx, async (ctx) => {
    const undone = await writeValues(
      ctx,
      { type, id },
      values.map(([field, , before]) => [field, before]),
    );
    const hasChanged = values.some(([, left], at) => formText(undone.values[at]?.[2] ?? null) !== formText(left));
    if (hasChanged) throw conflict('The field has changed since');
    return undone;
  });
}
