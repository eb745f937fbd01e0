import { CustomField } from '../../../../db/models/custom-field.js';
import { conflict } from '../../../platform/errors.js';
import { createField } from '../../../work/custom-fields/create-field.js';
import { updateField } from '../../../work/custom-fields/update-field.js';
import { UpdateCustomField } from '../../../work/custom-fields/schema.js';
import type { Batch, Row, Write } from './batch.js';
import { createdByJob } from './created-by-job.js';
import { given } from './given.js';
import { knownRecords } from './known-ids.js';
import { existsMessage, writeOneByOne } from './one-by-one.js';
import { Refusal, withSavepoint } from './savepoint.js';

/** Returns the field of the team that has the key of a new one; undefined if none has. @throws RESOURCE_CONFLICT it cannot stand for it */
async function sameKey({ ctx, team_id, on_conflict }: Batch, { record }: Row<'custom_field'>): Promise<string | undefined> {
  const { key, field_type, entity_type } = record;
  if (key == null) return undefined;
  const found = await CustomField.query(ctx.db).findOne({ team_id, key });
  if (!found) return undefined;
  if (on_conflict === 'error') throw conflict(existsMessage(`A field with the key ${key}; the field`));
  if (found.field_type === field_type && found.entity_type === entity_type) return found.field_id;
  throw conflict(`The team has a field with the key ${key} of another type`);
}

/** Writes definitions of custom fields. One that the team has under the same key stands for it. */
export const writeFields: Write = (batch, rows) =>
  writeOneByOne(batch, rows, {
    kind: 'custom_field',
    name: 'field',
    getRef: ({ field_id }) => field_id,
    getType: () => 'custom_field',
    find: (ids) => knownRecords(batch.ctx, 'custom_field', batch.team_id, ids),
    async create(ctx, row, id) {
      const existing = await sameKey({ ...batch, ctx }, row);
      if (existing !== undefined) return { id: existing, isNew: false };
      const { field_id: _ref, is_archived: _archived, ...field } = row.record;
      await createField(ctx, { ...field, team_id: batch.team_id }, id);
      return { id, isNew: true };
    },
    async update(ctx, { record }, id) {
      const before = await CustomField.query(ctx.db).findById(id);
      const { is_archived: _later, ...fields } = given(UpdateCustomField, record);
      await updateField(ctx, id, fields);
      const after = await CustomField.query(ctx.db).findById(id);
      return before?.updated_at.getTime() !== after?.updated_at.getTime();
    },
  });

/** Archives fields that are archived in the file, when their values are in. */
export const archiveFields: Write = async (batch, rows) => {
  const { ctx, refs, result } = batch;
  const named = rows.map((row) => ({ row, ref: row.record['field_id'] as string }));
  await refs.load(
    ['custom_field'],
    named.map(({ ref }) => ref),
  );
  const ids = named.map(({ ref }) => refs.getId(['custom_field'], ref));
  const created = await createdByJob(batch, 'custom_field', ids);
  for (const [at, { row }] of named.entries()) {
    const id = ids[at] as string;
    if (!created.has(id)) continue;
    const archived = await withSavepoint(ctx, (ctx) => updateField(ctx, id, { is_archived: true }));
    if (archived instanceof Refusal) result.failed(row, archived.message);
  }
};
