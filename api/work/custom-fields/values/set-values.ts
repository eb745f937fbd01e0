import { run } from '../../../../db/statement.js';
import type { FieldOption } from '../../../../db/models/custom-field.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, invalid, invalidFields, notFound } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { findPlaces } from '../../graph/item-place.js';
import { checkValue } from '../check-value.js';
import { FIELD_TYPE_RULES, InvalidValue } from '../field-types.js';
import type { FieldEntity, FieldType } from '../rules.js';
import type { CustomFieldValue, SetCustomFieldValue } from '../schema.js';
import {
  fieldsStatement,
  lockFieldsStatement,
  lockMembersStatement,
  lockProjectsStatement,
  lockTasksStatement,
} from './lock-entities.sql.js';
import { setValuesStatement, type ValueInput } from './set-values.sql.js';

interface Field extends Record<string, unknown> {
  field_id: string;
  team_id: string;
  name: string;
  key: string;
  field_type: FieldType;
  entity_type: FieldEntity;
  options: FieldOption[];
  required: boolean;
  is_archived: boolean;
  seat: Seat | null;
}

/** A value of the request with its field; `place` is where it stands in the request, for messages. */
interface ValueWrite {
  item: SetCustomFieldValue;
  field: Field;
  place: string;
}

const misfit = (place: string, name: string, reason: string, subject = name) =>
  invalidFields([{ field: `${place}.${name}`, message: `${subject} ${reason}`, type: 'custom' }]);

/** @throws VALIDATION_ERROR the same value twice */
function checkUnique(items: readonly SetCustomFieldValue[], getPlace: (at: number) => string): void {
  const seen = new Set<string>();
  for (const [at, { field_id, entity_id }] of items.entries()) {
    const pair = `${field_id} ${entity_id}`;
    if (seen.has(pair)) throw misfit(getPlace(at), 'field_id', 'is already set for this item by an earlier entry');
    seen.add(pair);
  }
}

/** @throws RESOURCE_NOT_FOUND no such field | PERMISSION_DENIED not a member of its team, or a guest */
async function readFields(ctx: Context, items: readonly SetCustomFieldValue[]): Promise<Map<string, Field>> {
  const ids = [...new Set(items.map(({ field_id }) => field_id))];
  const fields = new Map((await run<Field>(ctx.db, fieldsStatement, [ids, requireUser(ctx)])).map((row) => [row.field_id, row]));
  for (const id of ids) {
    const field = fields.get(id);
    if (!field) throw notFound('Custom field');
    authorize('custom_field.set', field.seat);
  }
  return fields;
}

const LOCKS = { task: lockTasksStatement, project: lockProjectsStatement };

/** Locks the items in one order, then fields and memberships. What is of another team, or not live, is not locked. */
async function lock(ctx: Context, items: readonly SetCustomFieldValue[], fields: ReadonlyMap<string, Field>): Promise<void> {
  const teams = [...new Set([...fields.values()].map(({ team_id }) => team_id))];
  for (const type of ['project', 'task'] as const) {
    const ids = items.filter(({ entity_type }) => entity_type === type).map(({ entity_id }) => entity_id);
    if (ids.length > 0) await run(ctx.db, LOCKS[type], [[...new Set(ids)], teams]);
  }
  await run(ctx.db, lockFieldsStatement, [[...fields.keys()], requireUser(ctx)]);
}

/** @throws RESOURCE_CONFLICT the field is archived | VALIDATION_ERROR a field of the other type */
function checkField({ item, field, place }: ValueWrite): void {
  if (item.entity_type !== field.entity_type) {
    throw misfit(place, 'entity_type', `must be ${field.entity_type}, as that of the field ${field.key}`);
  }
  if (field.is_archived)
    throw conflict(`The field ${field.key} is archived`, { detail: 'Restore the field to set values again.' });
}

/** @throws RESOURCE_NOT_FOUND no live item of the type | INVALID_REQUEST an item of another team than the field's */
async function checkEntities(ctx: Context, wanted: readonly ValueWrite[]): Promise<void> {
  const places = await findPlaces(ctx, [...new Set(wanted.map(({ item }) => item.entity_id))]);
  for (const { item, field } of wanted) {
    const found = places.get(item.entity_id);
    if (found?.item_type !== item.entity_type) throw notFound(item.entity_type === 'task' ? 'Task' : 'Project');
    if (found.team_id !== field.team_id) {
      throw invalid(`The ${item.entity_type} belongs to another team than the field ${field.key}`);
    }
  }
}

/** @throws VALIDATION_ERROR null for a required field, or a value that does not fit the type */
function buildInput({ item, field, place }: ValueWrite, at: number): ValueInput {
  const { field_id, entity_id } = item;
  const misfitted = (reason: string) => misfit(place, 'value', reason, `value of ${field.key}`);
  if (item.value === null) {
    if (field.required) throw misfitted('must not be null: the field is required');
    return { at, field_id, entity_id };
  }
  const value = checkValue(field, item.value);
  if (value instanceof InvalidValue) throw misfitted(value.reason);
  return { at, field_id, entity_id, [FIELD_TYPE_RULES[field.field_type].column]: value };
}

/** @throws INVALID_REQUEST a value names a user who is no member of the field's team */
async function checkUsers(ctx: Context, wanted: readonly ValueWrite[]): Promise<void> {
  const named = wanted.filter(({ item, field }) => field.field_type === 'user' && item.value !== null);
  if (named.length === 0) return;
  const teams = named.map(({ field }) => field.team_id);
  const users = named.map(({ item }) => Id.parse(item.value));
  const found = await run<{ team_id: string; user_id: string }>(ctx.db, lockMembersStatement, [teams, users]);
  const members = new Set(found.map(({ team_id, user_id }) => `${team_id} ${user_id}`));
  const stranger = named.find((_one, at) => !members.has(`${teams[at]} ${users[at]}`));
  if (stranger) throw invalid(`The value of ${stranger.field.key} must be a member of the team`);
}

/**
 * Sets or clears up to 100 values, all or none of them. Each value that differs leaves an audit entry and a line of activity on its item.
 * Neither the item's version nor its time of update changes. `isList`: messages name the entry of the list.
 * @throws RESOURCE_NOT_FOUND no such field or live item | PERMISSION_DENIED not a member of the field's team, or a guest |
 * INVALID_REQUEST an item of another team, or a user who is no member | RESOURCE_CONFLICT the field is archived | VALIDATION_ERROR a
 * value that does not fit the field
 */
export async function setValues(ctx: Context, items: readonly SetCustomFieldValue[], isList = true): Promise<CustomFieldValue[]> {
  return (await changeValues(ctx, items, isList)).map(({ record }) => record);
}

/** A value as it was set, and what was there before, read under the same lock. */
interface ChangedValue extends Record<string, unknown> {
  record: CustomFieldValue;
  before: CustomFieldValue['value'];
}

/** Does what `setValues` does, and says of each value what it replaced. @throws the errors of `setValues` */
export async function changeValues(ctx: Context, items: readonly SetCustomFieldValue[], isList = true): Promise<ChangedValue[]> {
  const getPlace = (at: number) => (isList ? `body.${at}` : 'body');
  checkUnique(items, getPlace);
  // Before any lock: a stranger must not hold rows of another team, however briefly.
  const known = await readFields(ctx, items);
  return inTransaction(ctx, async (ctx) => {
    await lock(ctx, items, known);
    const fields = await readFields(ctx, items);
    const wanted = items.map((item, at) => ({ item, field: fields.get(item.field_id) as Field, place: getPlace(at) }));
    wanted.forEach(checkField);
    await checkEntities(ctx, wanted);
    const inputs = wanted.map(buildInput);
    await checkUsers(ctx, wanted);
    const values = [JSON.stringify(callerJson(ctx)), JSON.stringify(inputs), requireUser(ctx)];
    return run<ChangedValue>(ctx.db, setValuesStatement, values);
  });
}
