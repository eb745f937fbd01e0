import { CustomField } from '../../../db/models/custom-field.js';
import { Team } from '../../../db/models/team.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { checkOptions } from './check-options.js';
import { present } from './present.js';
import { recordFieldChange } from './record-field-change.js';
import { freeKey, keyFromName, MAX_FIELDS_PER_TEAM } from './rules.js';
import type { CreateCustomField, CustomFieldRecord } from './schema.js';

/** @throws RESOURCE_CONFLICT the key that the caller chose is taken */
function chooseKey({ key, name }: CreateCustomField, taken: ReadonlySet<string>): string {
  if (key == null) return freeKey(keyFromName(name), taken);
  if (taken.has(key)) throw conflict(`The team already has a field with the key ${key}`);
  return key;
}

/**
 * Defines a field; `field_id` is chosen by imports only. Creations in a team happen one after the other, so keys are unique and the limit holds.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT the key is taken | INVALID_REQUEST the team
 * has 100 fields | VALIDATION_ERROR choices that do not fit the type
 */
export function createField(ctx: Context, input: CreateCustomField, field_id = newId()): Promise<CustomFieldRecord> {
  const { team_id, name, field_type, entity_type } = input;
  return inTransaction(ctx, async (ctx) => {
    authorize('custom_field.manage', await seatInTeam(ctx, team_id));
    const options = checkOptions(field_type, input.options ?? []);
    if (!(await Team.query(ctx.db).findById(team_id).modify('live').forNoKeyUpdate())) throw notFound('Team');
    const fields = await CustomField.query(ctx.db).where({ team_id }).select('key', 'position');
    const key = chooseKey(input, new Set(fields.map((field) => field.key)));
    if (fields.length >= MAX_FIELDS_PER_TEAM) {
      throw invalid(`A team has at most ${MAX_FIELDS_PER_TEAM} custom fields, archived ones included; delete one first`);
    }
    const field = await CustomField.query(ctx.db).insertAndFetch({
      field_id,
      team_id,
      name,
      key,
      field_type,
      entity_type,
      options,
      required: input.required ?? false,
      position: input.position ?? Math.min(1_000_000, Math.max(0, ...fields.map(({ position }) => position + 1))),
      created_by: requireUser(ctx),
    });
    await recordFieldChange(ctx, field, 'create', { field_type, entity_type });
    return present(field);
  });
}
