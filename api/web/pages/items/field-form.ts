import { parseValue } from '../../../work/custom-fields/check-value.js';
import { FIELD_TYPE_RULES } from '../../../work/custom-fields/field-types.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import type { FieldEntity } from '../../../work/custom-fields/rules.js';
import type { CustomFieldRecord, CustomFieldValue } from '../../../work/custom-fields/schema.js';
import { listValues } from '../../../work/custom-fields/values/list-values.js';
import { setValues } from '../../../work/custom-fields/values/set-values.js';
import type { Context } from '../../../platform/context.js';
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

/** Fields of a task or project with its values: those that can be set, and archived ones that have a value. */
export async function loadFields(ctx: Context, { item_id, type, team_id }: FieldedItem): Promise<FieldWithValue[]> {
  if (!hasFields(type)) return [];
  const [fields, values] = await Promise.all([
    listFields(ctx, { team_id, entity_type: type }),
    listValues(ctx, { entity_type: type, entity_id: item_id }),
  ]);
  const valueByField = new Map(values.map(({ field_id, value }) => [field_id, value]));
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

/**
 * Sets the values that the user changed: what differs from what the form showed, so that nobody's change in between is undone unseen.
 * @throws the errors of `setValues`
 */
export async function saveFields(ctx: Context, item: FieldedItem, form: Fields): Promise<void> {
  const fields = (await listFields(ctx, item)).filter(({ is_archived }) => !is_archived);
  const changed = fields.flatMap((field) => {
    const shown = textIn(form, `was-${field.field_id}`);
    const typed = textIn(form, `field-${field.field_id}`) ?? '';
    return shown === undefined || shown === typed ? [] : [{ field, value: typedValue(field, typed) }];
  });
  if (changed.length === 0) return;
  const entity = { entity_type: item.type as FieldEntity, entity_id: item.item_id };
  await setValues(
    ctx,
    changed.map(({ field, value }) => ({ field_id: field.field_id, ...entity, value })),
  );
}
