import { changeItem } from '../../../items/change-item.js';
import { createItem } from '../../../items/create-item.js';
import { freeFieldsOf } from '../../../items/free-fields.js';
import type { StoredType } from '../../../items/rules.js';
import type { Context } from '../../../core/context.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { RecordOf } from '../records/schemas.js';
import type { Batch, Row, Write } from './batch.js';
import { knownItems } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { placesOfProjects } from './projects-of-team.js';
import { notFound } from '../../../core/errors.js';

type ItemRecord = Omit<RecordOf<'note'>, 'note_id' | 'kind'> & Pick<Partial<RecordOf<'note'>>, 'kind'>;

/** Returns the project of an item; null for none. @throws RESOURCE_NOT_FOUND no live project of the team */
type ProjectOf = (record: { project_id?: string | null | undefined }) => string | null;

async function projectsFor(batch: Batch, rows: PreparedRow[]): Promise<ProjectOf> {
  const refs = rows.map(({ record }) => record['project_id'] as string | null | undefined);
  await batch.refs.load(['project'], refs);
  const live = await placesOfProjects(batch, refs);
  return ({ project_id: ref }) => {
    if (ref == null) return batch.project_id;
    const id = batch.refs.idOf(['project'], ref);
    if (!live.has(id)) throw notFound('Project');
    return id;
  };
}

/** A file came without its bytes: what is known of them stays in its free fields. */
const withFile = (record: Pick<RecordOf<'work_item'>, 'fields' | 'file'>): Record<string, unknown> => ({
  ...record.fields,
  ...(record.file != null && { file: record.file }),
});

interface NewItemRecord {
  type: StoredType;
  record: ItemRecord;
  fields: Record<string, unknown>;
}

async function create(ctx: Context, batch: Batch, projectOf: ProjectOf, { type, record, fields }: NewItemRecord, id: string) {
  const { title, description, status, content, kind } = record;
  await createItem(ctx, {
    item_id: id,
    item_type: type,
    team_id: batch.team_id,
    project_id: projectOf(record),
    title,
    description: description || null,
    status: status ?? 'active',
    content: type === 'note' || type === 'doc' ? (content ?? '') : null,
    kind: type === 'note' ? (kind ?? 'note') : null,
    fields: freeFieldsOf(type, { fields }),
  });
  return { id, isNew: true };
}

async function update(ctx: Context, projectOf: ProjectOf, type: StoredType, record: ItemRecord, id: string): Promise<boolean> {
  const { title, description, status, content, kind, fields, project_id } = record;
  const hasText = type === 'note' || type === 'doc';
  const before = { version: 0 };
  const item = await changeItem(
    ctx,
    { itemId: id, type, version: null, projectId: project_id === undefined ? undefined : projectOf(record) },
    (stored) => {
      before.version = (stored as typeof stored & { version: number }).version;
      return {
        title,
        description: description === undefined ? stored.description : description || null,
        status: status ?? stored.status,
        content: hasText ? (content ?? stored.content) : null,
        kind: type === 'note' ? (kind ?? stored.kind) : null,
        fields: fields == null ? stored.fields : freeFieldsOf(type, { fields }),
      };
    },
  );
  return item.version !== before.version;
}

/** Writes notes. */
export const writeNotes: Write = async (batch, rows) => {
  const projectOf = await projectsFor(batch, rows);
  return writeOneByOne(batch, rows, {
    kind: 'note',
    name: 'note',
    refOf: ({ note_id }) => note_id,
    typeOf: () => 'note',
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    create: (ctx, { record }, id) => create(ctx, batch, projectOf, { type: 'note', record, fields: record.fields ?? {} }, id),
    update: (ctx, { record }, id) => update(ctx, projectOf, 'note', record, id),
  });
};

/** Writes docs, whiteboards and what is known of files. */
export const writeWorkItems: Write = async (batch, rows) => {
  const projectOf = await projectsFor(batch, rows);
  return writeOneByOne(batch, rows, {
    kind: 'work_item',
    name: 'item',
    refOf: ({ item_id }) => item_id,
    typeOf: ({ type }) => type,
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    create: (ctx, { record }: Row<'work_item'>, id) =>
      create(ctx, batch, projectOf, { type: record.type, record, fields: withFile(record) }, id),
    update: (ctx, { record }, id) => update(ctx, projectOf, record.type, record, id),
  });
};
