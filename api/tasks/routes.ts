import { Readable } from 'node:stream';
import { z } from 'zod';
import { DomainError, invalid } from '../core/errors.js';
import { type Endpoint, endpoint, JsonText, Reply } from '../endpoint/endpoint.js';
import { createTask } from './write/create-task.js';
import { createTasksInBulk } from './write/create-tasks-in-bulk.js';
import { type Etag, etagMatcher, taskEtag } from './read/etags.js';
import { getTask } from './read/get-task.js';
import { listMyTasks, listTasks, type TaskList } from './read/list-tasks.js';
import {
  BulkOptions,
  ChangeTaskStatus,
  CreatedTask,
  CreatedTasks,
  CreateTask,
  CreateTasksInBulk,
  ListTasks,
  Message,
  Task,
  TaskParams,
  TaskTree,
  TrashedTask,
  UpdateTask,
} from './schema.js';
import { trashTask } from './write/trash-task.js';
import { updateTask } from './write/update-task.js';
import type { TaskCreation } from './write/write-new-tasks.js';

const tag = 'Tasks';

/** What a client may keep, and must ask about before it shows it again: rights can end at any time. */
const revalidated = (etag: Etag) => ({ ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });

const notModified = (etag: Etag) => new Reply(null, { status: 304, headers: revalidated(etag) });

const headersOf = ({ etag, truncated }: { etag: Etag; truncated: boolean }) => ({
  ...revalidated(etag),
  ...(truncated ? { 'X-Truncated': 'true' } : {}),
});

function listAnswer({ body, ...list }: TaskList): Reply {
  if (body === null) return notModified(list.etag);
  const headers = headersOf(list);
  if (typeof body === 'string') return new Reply(new JsonText(body), { headers });
  return new Reply(Readable.from(body), { headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' } });
}

/**
 * `version` in the body or If-Match; both and different is a 400 (C3). Any ETag of ours begins with the version, also one that a
 * proxy has made weak; `*` asks for nothing but that the task exists.
 */
function expectedVersion(ifMatch: string | undefined, version: number | null | undefined): number | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return version ?? null;
  const tagged = /^(?:W\/)?"(\d{1,9})(?:-[\w-]+)?"$/.exec(ifMatch.trim())?.[1];
  if (tagged === undefined) throw invalid('If-Match takes one ETag of the task');
  if (version != null && version !== Number(tagged)) throw invalid('If-Match and version name different versions');
  return Number(tagged);
}

const updated = async (version: Promise<number>) =>
  new Reply({ message: 'Task updated' }, { headers: { ETag: taskEtag(await version) } });

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
    etag: 'change',
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
    etag: 'change',
    example: { status: 'done' },
    handle: ({ ctx, params, body, headers }) =>
      updated(
        updateTask(ctx, params.task_id, { status: body.status, version: expectedVersion(headers['if-match'], body.version) }),
      ),
  });

/** One line of a bulk answer; the record is spliced in as the text that PostgreSQL wrote. */
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
    method: 'get',
    path: '/api/tasks',
    tag,
    summary: 'List tasks, subtasks nested',
    description:
      'Without a filter, those of every visible project; at most 10,000, and `X-Truncated: true` says that there are more. Sent again with If-None-Match, an unchanged list is a 304.',
    etag: 'kept',
    capped: true,
    ability: 'task.list',
    scope: 'tasks:read',
    query: ListTasks,
    response: z.array(TaskTree),
    errors: [404],
    handle: async ({ ctx, query, headers }) => listAnswer(await listTasks(ctx, query, etagMatcher(headers['if-none-match']))),
  }),
  endpoint({
    method: 'get',
    path: '/api/tasks/my',
    tag,
    summary: 'List the tasks assigned to the caller',
    description: 'Flat, in one order over all teams. Sent again with If-None-Match, an unchanged list is a 304.',
    etag: 'kept',
    capped: true,
    ability: 'task.list',
    scope: 'tasks:read',
    response: z.array(Task),
    handle: async ({ ctx, headers }) => listAnswer(await listMyTasks(ctx, etagMatcher(headers['if-none-match']))),
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
    method: 'post',
    path: '/api/tasks/bulk',
    tag,
    summary: 'Create up to 500 tasks',
    description:
      'Each item is judged by itself and its result is in its place; with `atomic=true` the first refusal undoes everything. A later item may name an earlier one’s `task_id` as its parent. An item in a project that the caller may not write to refuses the whole call.',
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
    method: 'get',
    path: '/api/tasks/:task_id',
    tag,
    summary: 'Read a task with its subtasks',
    description:
      'At most 10,000 tasks below it, level after level; `X-Truncated: true` says that there are more. Sent again with If-None-Match, an unchanged answer is a 304.',
    etag: 'kept',
    capped: true,
    ability: 'task.read',
    scope: 'tasks:read',
    params: TaskParams,
    response: TaskTree,
    errors: [404],
    async handle({ ctx, params, headers }) {
      const { json, ...task } = await getTask(ctx, params.task_id);
      if (etagMatcher(headers['if-none-match'])?.(task.etag)) return notModified(task.etag);
      return new Reply(new JsonText(json), { headers: headersOf(task) });
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
