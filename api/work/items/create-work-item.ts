import { type Context, inTransaction } from '../../platform/context.js';
import { requireScopeIfStrict } from '../../platform/access/require-scope.js';
import { createProject } from '../projects/create-project.js';
import { CreateProject } from '../projects/schema.js';
import { createTask } from '../tasks/write/create-task.js';
import { CreateTask } from '../tasks/schema.js';
import { createItem } from './create-item.js';
import { pickFreeFields, insertFreeFields } from './free-fields.js';
import { getWorkItem, type WorkItemAnswer } from './get-work-item.js';
import type { CreateWorkItem } from './schema.js';

type Body<T extends CreateWorkItem['type']> = Extract<CreateWorkItem, { type: T }>;

/** A created item as JSON text. `created` is false for a task that already existed under the client's id. */
export interface WorkItemCreation extends WorkItemAnswer {
  created: boolean;
}

/** Picks the fields of a schema: what else a body holds must not reach the operation. */
const picked = <T>(shape: object, body: object): T =>
  Object.fromEntries(Object.entries(body).filter(([key]) => Object.hasOwn(shape, key))) as T;

async function createTaskItem(ctx: Context, body: Body<'task'>): Promise<{ itemId: string; created: boolean }> {
  const fields = pickFreeFields('task', body);
  const { taskId, created } = await createTask(ctx, picked<CreateTask>(CreateTask.shape, body));
  if (created) await insertFreeFields(ctx, taskId, fields);
  return { itemId: taskId, created };
}

async function createProjectItem(
  ctx: Context,
  { title, ...body }: Body<'project'>,
): Promise<{ itemId: string; created: boolean }> {
  requireScopeIfStrict(ctx, 'projects:write');
  const fields = pickFreeFields('project', body);
  const { data } = await createProject(ctx, { ...picked<CreateProject>(CreateProject.shape, body), name: title });
  await insertFreeFields(ctx, data.project_id, fields);
  return { itemId: data.project_id, created: true };
}

async function createStoredItem(
  ctx: Context,
  body: Exclude<CreateWorkItem, { type: 'task' | 'project' }>,
): Promise<{ itemId: string; created: boolean }> {
  const { type, title, team_id, project_id, description, status } = body;
  const texts = {
    note: () => ({ content: (body as Body<'note'>).content ?? '', kind: (body as Body<'note'>).kind ?? 'note' }),
    doc: () => ({ content: (body as Body<'doc'>).content ?? '', kind: null }),
    file: () => ({ content: null, kind: null }),
    whiteboard: () => ({ content: null, kind: null }),
  }[type]();
  const { item_id } = await createItem(ctx, {
    ...texts,
    item_type: type,
    title,
    team_id,
    project_id,
    description: description || null,
    status: status ?? 'active',
    fields: pickFreeFields(type, body),
  });
  return { itemId: item_id, created: true };
}

/**
 * Creates an item of any type. A task and a project are created by their own operations; the other types are rows of `items`. Fields that
 * the type does not know become its free `fields`.
 * @throws the errors of the type's operation | VALIDATION_ERROR the free fields | PERMISSION_DENIED a strict token without the scope of
 * projects creates one
 */
export function createWorkItem(ctx: Context, body: CreateWorkItem): Promise<WorkItemCreation> {
  return inTransaction(ctx, async (ctx) => {
    const { itemId, created } =
      body.type === 'task'
        ? await createTaskItem(ctx, body)
        : body.type === 'project'
          ? await createProjectItem(ctx, body)
          : await createStoredItem(ctx, body);
    // Also asks for the permission of this route: tasks and projects were created with that of their own.
    return { ...(await getWorkItem(ctx, itemId, 'item.write')), created };
  });
}
