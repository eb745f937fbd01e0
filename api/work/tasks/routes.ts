import { z } from 'zod';
import { DomainError } from '../../platform/errors.js';
import { type CutPage, type Endpoint, endpoint, JsonText, Reply } from '../../platform/endpoint/endpoint.js';
import { type Etag, etagMatcher, expectedVersion, notModified, revalidated } from '../../platform/endpoint/etags.js';
import { createTask } from './write/create-task.js';
import { createTasksInBulk } from './write/create-tasks-in-bulk.js';
import { taskEtag } from './read/etags.js';
import { getTask } from './read/get-task.js';
import { listMyTasks, listTasks, type TaskList } from './read/list-tasks.js';
import {
  BulkOptions,
  ChangeTaskStatus,
  CreatedTask,
  CreatedTasks,
  CreateTask,
  CreateTasksInBulk,
  ListMyTasks,
  ListTasks,
  Message,
  Task,
  TaskOptions,
  TaskParams,
  TaskTree,
  TrashedTask,
  UpdateTask,
} from './schema.js';
import { trashTask } from './write/trash-task.js';
import { updateTask } from './write/update-task.js';
import type { TaskCreation } from './write/write-new-tasks.js';

const tag = 'Tasks';

const buildHeaders = ({ etag, truncated }: { etag: Etag; truncated: boolean }) => ({
  ...revalidated(etag),
  ...(truncated ? { 'X-Truncated': 'true' } : {}),
});

function toPage({ body, etag, ...page }: TaskList): CutPage | Reply {
  return body === null ? notModified(etag) : { ...page, body, headers: revalidated(etag) };
}

const updated = async (version: Promise<number>) =>
  new Reply({ message: 'Task updated' }, { headers: { ETag: taskEtag(await version) } });

const update = (method: 'patch' | 'put') =>
  endpoint({
    ...(method === 'patch' ? { id: 'updateTask' } : { id: 'replaceTask', formerId: 'putTask' }),
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
    etag: 'change',
    example: { status: 'in_review', version: 3 },
    handle: ({ ctx, params, body, headers }) =>
      updated(updateTask(ctx, params.task_id, { ...body, version: expectedVersion('task', headers['if-match'], body.version) })),
  });

const changeStatus = (method: 'patch' | 'put') =>
  endpoint({
    ...(method === 'patch' ? { id: 'updateTaskStatus' } : { id: 'replaceTaskStatus', formerId: 'putTaskStatus' }),
    method,
    path: '/api/tasks/:task_id/status',
    tag,
    summary: 'Update the status of a task',
    ability: 'task.write',
    scope: 'tasks:write',
    params: TaskParams,
    body: ChangeTaskStatus,
    response: Message,
    errors: [404, 409],
    etag: 'change',
    example: { status: 'done' },
    handle: ({ ctx, params, body, headers }) =>
      updated(
        updateTask(ctx, params.task_id, {
          ...body,
          version: expectedVersion('task', headers['if-match'], body.version),
        }),
      ),
  });

/** Builds one entry of a bulk response; splices in the record as PostgreSQL's text. */
function bulkLine(result: TaskCreation | DomainError, index: number): string {
  if (result instanceof DomainError) {
    const { code: error_code, message, detail } = result;
    return JSON.stringify({ index, success: false, task_id: null, data: null, error: { error_code, message, detail } });
  }
  return `{"index":${index},"success":true,"task_id":${JSON.stringify(result.taskId)},"data":${result.json},"error":null}`;
}

function bulkAnswer(results: (TaskCreation | DomainError)[]): JsonText {
  const failed = results.filter((result) => result instanceof DomainError).length;
  const created = results.filter((result) => !(result instanceof DomainError) && result.created).length;
  const total = results.length;
  const counts = JSON.stringify({ created, replayed: total - created - failed, failed, total });
  return new JsonText(`{"results":[${results.map(bulkLine).join(',')}],${counts.slice(1)}`);
}

export const taskRoutes: Endpoint[] = [
  endpoint({
    id: 'listTasks',
    method: 'get',
    path: '/api/tasks',
    tag,
    summary: 'List tasks',
    description:
      'Subtasks nested. Without a filter: tasks of every visible project. Filters are combined with AND. Without `limit` at most 10,000; `X-Truncated: true` marks a cut list, and `Link` goes on. A page counts subtasks too; one whose parent is on another page stands at the top level. With If-None-Match an unchanged list is a 304.',
    etag: 'kept',
    capped: true,
    pages: { cut: true },
    ability: 'task.list',
    scope: 'tasks:read',
    query: ListTasks,
    response: z.array(TaskTree),
    errors: [404],
    handle: async ({ ctx, query, headers }) => toPage(await listTasks(ctx, query, etagMatcher(headers['if-none-match']))),
  }),
  endpoint({
    id: 'listMyTasks',
    method: 'get',
    path: '/api/tasks/my',
    tag,
    summary: 'List your tasks',
    description:
      'Tasks assigned to you in all teams, as a flat list. Without `limit` at most 10,000; `X-Truncated: true` marks a cut list, and `Link` goes on. With If-None-Match an unchanged list is a 304.',
    etag: 'kept',
    capped: true,
    pages: { cut: true },
    ability: 'task.list',
    scope: 'tasks:read',
    query: ListMyTasks,
    response: z.array(Task),
    handle: async ({ ctx, query, headers }) => toPage(await listMyTasks(ctx, query, etagMatcher(headers['if-none-match']))),
  }),
  endpoint({
    id: 'createTask',
    method: 'post',
    path: '/api/tasks',
    tag,
    summary: 'Create a task',
    description:
      'A `task_id` of your own makes the call repeatable: the same id in the same project returns 200 with the stored task.',
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
    id: 'createTasksInBulk',
    method: 'post',
    path: '/api/tasks/bulk',
    tag,
    summary: 'Create up to 500 tasks',
    description:
      'Each item succeeds or fails independently, with its result at the same index; with `atomic=true` the first error rolls back all. A later item may use the `task_id` of an earlier one as parent. An item in a project without write access fails the whole call.',
    ability: 'task.write',
    scope: 'tasks:write',
    query: BulkOptions,
    body: CreateTasksInBulk,
    bodyLimit: 24 * 1024 * 1024,
    response: CreatedTasks,
    errors: [404, 409],
    example: [
      { title: 'Ship the release notes', project_id: '019a9f00-0000-7000-8000-000000000001', task_id: 'release-7' },
      { title: 'Proofread them', project_id: '019a9f00-0000-7000-8000-000000000001', parent_task_id: 'release-7' },
    ],
    handle: async ({ ctx, query, body }) => bulkAnswer(await createTasksInBulk(ctx, body, query.atomic)),
  }),
  endpoint({
    id: 'getTask',
    method: 'get',
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Get a task',
    description:
      'Subtasks nested: at most 10,000 descendants and 10 MB, level by level; `X-Truncated: true` marks a cut tree. With If-None-Match an unchanged task is a 304.',
    etag: 'kept',
    capped: true,
    ability: 'task.read',
    scope: 'tasks:read',
    params: TaskParams,
    query: TaskOptions,
    response: TaskTree,
    errors: [404],
    async handle({ ctx, params, query, headers }) {
      const { json, ...task } = await getTask(ctx, params.task_id, query.include === 'custom_fields');
      if (etagMatcher(headers['if-none-match'])?.(task.etag)) return notModified(task.etag);
      return new Reply(new JsonText(json), { headers: buildHeaders(task) });
    },
  }),
  update('patch'),
  update('put'),
  changeStatus('patch'),
  changeStatus('put'),
  endpoint({
    id: 'deleteTask',
    method: 'delete',
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Delete a task',
    ability: 'task.write',
    scope: 'tasks:write',
    scopeEnforced: true,
    params: TaskParams,
    response: TrashedTask,
    errors: [404],
    handle: ({ ctx, params }) => trashTask(ctx, params.task_id),
  }),
];
