import { z } from 'zod';
import { invalid } from '../core/errors.js';
import { type Endpoint, endpoint, JsonText, Reply } from '../http/endpoint.js';
import { createTask } from './create-task.js';
import { getTask } from './get-task.js';
import { listMyTasks, listTasks, type TaskList } from './list-tasks.js';
import {
  ChangeTaskStatus,
  CreatedTask,
  CreateTask,
  ListTasks,
  Message,
  Task,
  TaskParams,
  TaskTree,
  TrashedTask,
  UpdateTask,
} from './schema.js';
import { trashTask } from './trash-task.js';
import { updateTask } from './update-task.js';

const tag = 'Tasks';

const listAnswer = ({ json, truncated }: TaskList) =>
  new Reply(new JsonText(json), { headers: truncated ? { 'X-Truncated': 'true' } : {} });

const etag = (version: number) => ({ ETag: `"${version}"` });

/** `version` in the body or If-Match; both and different is a 400 (C3). `*` and weak tags ask for nothing we check. */
function expectedVersion(ifMatch: string | undefined, version: number | null | undefined): number | null {
  const tagged = /^"(\d{1,10})"$/.exec(ifMatch ?? '')?.[1];
  if (tagged === undefined) return version ?? null;
  if (version != null && version !== Number(tagged)) throw invalid('If-Match and version name different versions');
  return Number(tagged);
}

const updated = async (version: Promise<number>) => new Reply({ message: 'Task updated' }, { headers: etag(await version) });

const update = (method: 'patch' | 'put') =>
  endpoint({
    method,
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Update a task',
    description: 'Every field is optional; null clears. The new version is in the ETag header.',
    ability: 'task.write',
    scope: 'tasks:write',
    scopeEnforced: true,
    params: TaskParams,
    body: UpdateTask,
    response: Message,
    errors: [404, 409],
    example: { status: 'in_review', version: 3 },
    handle: ({ ctx, params, body, headers }) =>
      updated(updateTask(ctx, params.task_id, { ...body, version: expectedVersion(headers['if-match'], body.version) })),
  });

const changeStatus = (method: 'patch' | 'put') =>
  endpoint({
    method,
    path: '/api/tasks/:task_id/status',
    tag,
    summary: 'Change only the status of a task',
    ability: 'task.write',
    scope: 'tasks:write',
    params: TaskParams,
    body: ChangeTaskStatus,
    response: Message,
    errors: [404, 409],
    example: { status: 'done' },
    handle: ({ ctx, params, body, headers }) =>
      updated(
        updateTask(ctx, params.task_id, { status: body.status, version: expectedVersion(headers['if-match'], body.version) }),
      ),
  });

export const taskRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/tasks',
    tag,
    summary: 'List tasks, subtasks nested',
    description: 'At most 10,000 tasks; `X-Truncated: true` says that there are more.',
    ability: 'task.list',
    scope: 'tasks:read',
    query: ListTasks,
    response: z.array(TaskTree),
    errors: [404],
    handle: async ({ ctx, query }) => listAnswer(await listTasks(ctx, query)),
  }),
  endpoint({
    method: 'get',
    path: '/api/tasks/my',
    tag,
    summary: 'List the tasks assigned to the caller',
    ability: 'task.list',
    scope: 'tasks:read',
    response: z.array(Task),
    handle: async ({ ctx }) => listAnswer(await listMyTasks(ctx)),
  }),
  endpoint({
    method: 'post',
    path: '/api/tasks',
    tag,
    summary: 'Create a task',
    description:
      'A `task_id` of the client’s makes the call repeatable: the same id in the same project answers 200 with the stored task.',
    ability: 'task.write',
    scope: 'tasks:write',
    scopeEnforced: true,
    body: CreateTask,
    response: CreatedTask,
    status: 201,
    alsoStatus: [200],
    errors: [404, 409],
    example: { title: 'Ship the release notes', project_id: '019a9f00-0000-7000-8000-000000000001', priority: 'high' },
    async handle({ ctx, body }) {
      const { created, taskId, json } = await createTask(ctx, body);
      const message = created ? 'Task created' : 'Task already exists';
      return new Reply(new JsonText(`{"message":"${message}","task_id":${JSON.stringify(taskId)},"data":${json}}`), {
        status: created ? 201 : 200,
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Read a task with its subtasks',
    ability: 'task.read',
    scope: 'tasks:read',
    params: TaskParams,
    response: TaskTree,
    errors: [404],
    async handle({ ctx, params }) {
      const { json, version } = await getTask(ctx, params.task_id);
      return new Reply(new JsonText(json), { headers: etag(version) });
    },
  }),
  update('patch'),
  update('put'),
  changeStatus('patch'),
  changeStatus('put'),
  endpoint({
    method: 'delete',
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Move a task and its subtasks to the trash',
    ability: 'task.write',
    scope: 'tasks:write',
    scopeEnforced: true,
    params: TaskParams,
    response: TrashedTask,
    errors: [404],
    async handle({ ctx, params }) {
      const trashed = await trashTask(ctx, params.task_id);
      return {
        message: 'Task moved to the trash',
        success: true,
        verified: true,
        soft_deleted: true,
        ...trashed,
        deleted_at: trashed.deleted_at.toISOString(),
      };
    },
  }),
];
