import { changeItem } from '../../../work/items/change-item.js';
import { createItem } from '../../../work/items/create-item.js';
import { pickFreeFields } from '../../../work/items/free-fields.js';
import type { StoredType } from '../../../work/items/rules.js';
import type { Context } from '../../../platform/context.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { RecordOf } from '../records/schemas.js';
import type { Batch, Row, Write } from './batch.js';
import { knownItems } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { placesOfProjects } from './projects-of-team.js';
import { notFound } from '../../../platform/errors.js';

type ItemRecord = Omit<RecordOf<'note'>, 'note_id' | 'kind'> & Pick<Partial<RecordOf<'note'>>, 'kind'>;

/** Returns the project of an item; null for none. @throws RESOURCE_NOT_FOUND no live project of the team */
type FindProject = (record: { project_id?: string | null | undefined }) => string | null;

async function projectsFor(batch: Batch, rows: PreparedRow[]): Promise<FindProject> {
  const refs = rows.map(({ record }) => record['project_id'] as string | null | undefined);
  await batch.refs.load(['project'], refs);
  const live = await placesOfProjects(batch, refs);
  return ({ project_id: ref }) => {
    if (ref == null) return batch.project_id;
    const id = batch.refs.getId(['project'], ref);
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

async function create(
  ctx: Context,
  batch: Batch,
  resolveProject: FindProject,
  { type, record, fields }: NewItemRecord,
  id: string,
) {
  const { title, description, status, content, kind } = record;
  await createItem(ctx, {
    item_id: id,
    item_type: type,
    team_id: batch.team_id,
    project_id: resolveProject(record),
    title,
    description: description || null,
    status: status ?? 'active',
    content: type === 'note' || type === 'doc' ? (content ?? '') : null,
    kind: type === 'note' ? (kind ?? 'note') : null,
    fields: pickFreeFields(type, { fields }),
  });
  return { id, isNew: true };
}

async function update(
  ctx: Context,
  resolveProject: FindProject,
  type: StoredType,
  record: ItemRecord,
  id: string,
): Promise<boolean> {
  const { title, description, status, content, kind, fields, project_id } = record;
  const hasText = type === 'note' || type === 'doc';
  const before = { version: 0 };
  const item = await changeItem(
    ctx,
    { itemId: id, type, version: null, projectId: project_id === undefined ? undefined : resolveProject(record) },
    (stored) => {
      before.version = (stored as typeof stored & { version: number }).version;
      return {
        title,
        description: description === undefined ? stored.description : description || null,
        status: status ?? stored.status,
        content: hasText ? (content ?? stored.content) : null,
        kind: type === 'note' ? (kind ?? stored.kind) : null,
        fields: fields == null ? stored.fields : pickFreeFields(type, { fields }),
      };
    },
  );
  return item.version !== before.version;
}

/** Writes notes. */
export const writeNotes: Write = async (batch, rows) => {
  const resolveProject = await projectsFor(batch, rows);
  return writeOneByOne(batch, rows, {
    kind: 'note',
    name: 'note',
    getRef: ({ note_id }) => note_id,
    getType: () => 'note',
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    create: (ctx, { record }, id) =>
      create(ctx, batch, resolveProject, { type: 'note', record, fields: record.fields ?? {} }, id),
    update: (ctx, { record }, id) => update(ctx, resolveProject, 'note', record, id),
  });
};

/** Writes docs, whiteboards and what is known of files. */
export const writeWorkItems: Write = async (batch, rows) => {
  const resolveProject = await projectsFor(batch, rows);
  return writeOneByOne(batch, rows, {
    kind: 'work_item',
    name: 'item',
    getRef: ({ item_id }) => item_id,
    getType: ({ type }) => type,
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    create: (ctx, { record }: Row<'work_item'>, id) =>
      create(ctx, batch, resolveProject, { type: record.type, record, fields: withFile(record) }, id),
    update: (ctx, { record }, id) => update(ctx, resolveProject, record.type, record, id),
  });
};
