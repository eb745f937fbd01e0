import { z } from 'zod';
import { type Endpoint, endpoint } from '../http/endpoint.js';
import { countTrash, listTrash } from './list-trash.js';
import { restoreProject } from './restore-project.js';
import { restoreTask } from './restore-task.js';
import { ListTrash, Restored, RestoreProject, RestoreTask, TrashEntry } from './schema.js';

const tag = 'Trash';

export const trashRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/trash',
    tag,
    summary: 'List what is in the trash, newest first',
    ability: 'trash.list',
    scope: 'tasks:read',
    query: ListTrash,
    response: z.array(TrashEntry),
    pages: { total: ({ ctx, query }) => countTrash(ctx, query) },
    handle: ({ ctx, query }) => listTrash(ctx, query),
  }),
  endpoint({
    method: 'post',
    path: '/api/trash/task/:task_id/restore',
    tag,
    summary: 'Restore a task',
    description:
      'Brings back the subtasks that the same deletion moved. A task whose parent is still in the trash comes back at top level; one whose project is in the trash does not (409).',
    ability: 'trash.restore',
    scope: 'tasks:write',
    params: RestoreTask,
    response: Restored,
    errors: [404, 409],
    handle: ({ ctx, params }) => restoreTask(ctx, params.task_id),
  }),
  endpoint({
    method: 'post',
    path: '/api/trash/project/:project_id/restore',
    tag,
    summary: 'Restore a project',
    description: 'Brings back exactly the tasks that its deletion moved; what was in the trash before stays there.',
    ability: 'trash.restore',
    scope: 'projects:write',
    params: RestoreProject,
    response: Restored,
    errors: [404],
    handle: ({ ctx, params }) => restoreProject(ctx, params.project_id),
  }),
];
