import { Comment } from '../../../db/models/comment.js';
import { Relation } from '../../../db/models/relation.js';
import { run } from '../../../db/statement.js';
import { deleteAutomation } from '../../automation/definitions/delete-automation.js';
import { ProjectUpdate } from '../../../db/models/project-update.js';
import { deleteComment } from '../../work/comments/delete-comment.js';
import { deleteUpdate } from '../../work/projects/updates/delete-update.js';
import { callerJson, type Context, requireUser } from '../../platform/context.js';
import { enqueueEvents } from '../../platform/events/enqueue-events.js';
import { newId } from '../../platform/ids.js';
import { deleteCycle } from '../../work/cycles/delete-cycle.js';
import { lockCycle } from '../../work/cycles/read-cycle.js';
import { deleteField } from '../../work/custom-fields/delete-field.js';
import { setValues } from '../../work/custom-fields/values/set-values.js';
import { markItems } from '../../work/graph/mark-for-search.js';
import { enqueueCascade } from '../../work/graph/record-cascade.js';
import { findPlaces } from '../../work/graph/item-place.js';
import { deleteRelation } from '../../work/relations/delete-relation.js';
import type { FieldEntity } from '../../work/custom-fields/rules.js';
import { Refusal, withSavepoint } from '../import/write/savepoint.js';
import {
  createdStatement,
  fieldInUseStatement,
  lockProjectsStatement,
  lockProjectStatement,
  sharedCycleStatement,
  trashItemsStatement,
  trashProjectStatement,
  trashTasksStatement,
} from './undo-batch.sql.js';

/** What an undo works with, in one transaction. */
export interface Undo {
  ctx: Context;
  job_id: string;
  team_id: string;
  /** Cascade of everything that goes to the trash. */
  undo_id: string;
}

/** Takes records of one kind back; returns how many. What is no longer there, or is in use by others, stays. */
type UndoRecords = (undo: Undo, ids: string[]) => Promise<number>;

/** Kinds of items that an import creates, which go to the trash with what hangs on them. */
const ITEMS = ['task', 'project', 'note', 'work_item'];

async function trash({ ctx, team_id, undo_id, job_id }: Undo, ids: string[], kind: 'task' | 'item'): Promise<number> {
  if (kind === 'task') await run(ctx.db, lockProjectsStatement, [ids, team_id]);
  const values = [ids, team_id, requireUser(ctx), undo_id];
  // The entry of the step has the id of its request.
  const caller = JSON.stringify(callerJson({ ...ctx, requestId: newId() }));
  const rows =
    kind === 'task'
      ? await run<{ item_id: string; is_gone: boolean }>(ctx.db, trashTasksStatement, [...values, job_id, caller])
      : await run<{ item_id: string; is_gone: boolean }>(ctx.db, trashItemsStatement, values);
  await markItems(
    ctx,
    team_id,
    rows.map(({ item_id }) => item_id),
  );
  const gone = rows.flatMap(({ item_id, is_gone }) => (is_gone ? [item_id] : []));
  const tasks = { cascade_id: undo_id, team_id, task_ids: gone };
  if (kind === 'task') await enqueueCascade(ctx, 'task.cascade_deleted', tasks);
  return gone.length;
}

const undoTasks: UndoRecords = (undo, ids) => trash(undo, ids, 'task');
const undoItems: UndoRecords = (undo, ids) => trash(undo, ids, 'item');

/** A project in which others have put something stays. */
const undoProjects: UndoRecords = async ({ ctx, team_id, undo_id }, ids) => {
  let taken = 0;
  for (const id of ids) {
    await run(ctx.db, lockProjectStatement, [id]);
    const gone = await run<{ json: unknown }>(ctx.db, trashProjectStatement, [id, team_id, requireUser(ctx), undo_id]);
    const place = { team_id, project_id: id };
    const events = gone.map(({ json }) => ({
      ...place,
      type: 'project.deleted' as const,
      payload: { project: json, cascade_id: undo_id },
    }));
    await enqueueEvents(ctx, events);
    taken += gone.length;
  }
  await markItems(ctx, team_id, ids);
  return taken;
};

/** Calls an operation for each id, each in a savepoint; returns how many it accepted. */
async function each(ctx: Context, ids: readonly string[], work: (ctx: Context, id: string) => Promise<unknown>): Promise<number> {
  let taken = 0;
  for (const id of ids) {
    const done = await withSavepoint(ctx, (ctx) => work(ctx, id));
    if (!(done instanceof Refusal)) taken += 1;
  }
  return taken;
}

async function createdHere({ ctx, job_id }: Undo, ids: readonly string[]): Promise<Set<string>> {
  const rows = await run<{ item_id: string }>(ctx.db, createdStatement, [[...new Set(ids)], job_id, ITEMS]);
  return new Set(rows.map(({ item_id }) => item_id));
}

/** Comments on tasks of the import stay with them in the trash. */
const undoComments: UndoRecords = async (undo, ids) => {
  const { ctx } = undo;
  const comments = await Comment.query(ctx.db).findByIds(ids).modify('live');
  const here = await createdHere(
    undo,
    comments.map(({ task_id }) => task_id),
  );
  const alone = comments.filter(({ task_id }) => !here.has(task_id)).map(({ comment_id }) => comment_id);
  const deleted = await each(ctx, alone, deleteComment);
  return deleted + comments.length - alone.length;
};

/** Updates of projects of the import stay with them in the trash. */
const undoUpdates: UndoRecords = async (undo, ids) => {
  const updates = await ProjectUpdate.query(undo.ctx.db).findByIds(ids);
  const here = await createdHere(
    undo,
    updates.map(({ project_id }) => project_id),
  );
  const alone = updates.filter(({ project_id }) => !here.has(project_id)).map(({ update_id }) => update_id);
  const deleted = await each(undo.ctx, alone, deleteUpdate);
  return deleted + updates.length - alone.length;
};

/** Relations of items of the import stay with them in the trash. */
const undoRelations: UndoRecords = async (undo, ids) => {
  const { ctx } = undo;
  const relations = await Relation.query(ctx.db).findByIds(ids);
  const here = await createdHere(
    undo,
    relations.flatMap(({ source_id, target_id }) => [source_id, target_id]),
  );
  const alone = relations.filter(({ source_id, target_id }) => !here.has(source_id) && !here.has(target_id));
  const deleted = await each(
    ctx,
    alone.map(({ relation_id }) => relation_id),
    deleteRelation,
  );
  return deleted + relations.length - alone.length;
};

/** Values of items of the import stay with them in the trash. */
const undoValues: UndoRecords = async (undo, ids) => {
  const pairs = ids.map((id) => [id.slice(0, 36), id.slice(37)] as const);
  const here = await createdHere(
    undo,
    pairs.map(([, entity]) => entity),
  );
  const alone = pairs.filter(([, entity]) => !here.has(entity));
  const places = await findPlaces(undo.ctx, [...new Set(alone.map(([, entity]) => entity))]);
  const fields = new Map(alone.map(([field, entity]) => [`${field}:${entity}`, places.get(entity)?.item_type]));
  const cleared = await each(undo.ctx, [...fields.keys()], (ctx, id) => {
    const [field_id, entity_id] = [id.slice(0, 36), id.slice(37)];
    return setValues(ctx, [{ field_id, entity_id, entity_type: fields.get(id) as FieldEntity, value: null }], false);
  });
  return cleared + pairs.length - alone.length;
};

/** A field of which others have set a value stays. */
const undoFields: UndoRecords = async ({ ctx }, ids) => {
  let taken = 0;
  for (const id of ids) {
    const [row] = await run<{ is_used: boolean }>(ctx.db, fieldInUseStatement, [id]);
    if (row?.is_used === false) taken += await each(ctx, [id], deleteField);
  }
  return taken;
};

/** A cycle that the import has started, or completed, goes too. It stays if a person has changed it since, or a task of others was in it: then it is part of what happened. */
const undoCycles: UndoRecords = ({ ctx, job_id }, ids) =>
  each(ctx, ids, async (ctx, id) => {
    await lockCycle(ctx, id);
    const [row] = await run<{ is_shared: boolean }>(ctx.db, sharedCycleStatement, [id, job_id]);
    await deleteCycle(ctx, id, row?.is_shared === false);
  });

const UNDO_BY_KIND: Readonly<Record<string, UndoRecords>> = {
  automation: ({ ctx }, ids) => each(ctx, ids, deleteAutomation),
  relation: undoRelations,
  custom_field_value: undoValues,
  comment: undoComments,
  project_update: undoUpdates,
  task: undoTasks,
  note: undoItems,
  work_item: undoItems,
  project: undoProjects,
  cycle: undoCycles,
  custom_field: undoFields,
};

/** Kinds of records in the order in which they are undone: first what refers to others. */
export const UNDO_ORDER = Object.keys(UNDO_BY_KIND);
/** Kinds of which many are undone in one statement. */
export const TAKEN_AT_ONCE = ['task', 'note', 'work_item'];

/** Takes records of one kind back; returns how many. */
export const undoRecords = (undo: Undo, kind: string, ids: string[]): Promise<number> =>
  UNDO_BY_KIND[kind]?.(undo, ids) ?? Promise.resolve(0);
