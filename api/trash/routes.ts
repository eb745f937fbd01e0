import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { emptyTrash } from './empty-trash.js';
import { countTrash, listTrash } from './list-trash.js';
import { purgeProject } from './purge-project.js';
import { purgeTask } from './purge-task.js';
import { restoreProject } from './restore-project.js';
import { restoreTask } from './restore-task.js';
import {
  EmptiedTrash,
  EmptyTrash,
  ListTrash,
  PurgedItem,
  Restored,
  TrashEntry,
  TrashedProjectParams,
  TrashedTaskParams,
} from './schema.js';

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
    params: TrashedTaskParams,
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
    params: TrashedProjectParams,
    response: Restored,
    errors: [404],
    handle: ({ ctx, params }) => restoreProject(ctx, params.project_id),
  }),
  endpoint({
    method: 'delete',
    path: '/api/trash/task/:task_id',
    tag,
    summary: 'Purge a task from the trash',
    description: 'For good, with its comments and with the subtasks that the same deletion moved. Its id is free afterwards.',
    ability: 'trash.purge',
    scope: 'tasks:write',
    params: TrashedTaskParams,
    response: PurgedItem,
    errors: [404],
    handle: async ({ ctx, params }) => ({ success: true, purged: await purgeTask(ctx, params.task_id) }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/trash/project/:project_id',
    tag,
    summary: 'Purge a project from the trash',
    description:
      'For good, with all its tasks. Its automations end and its repositories are unbound; runs and the audit log stay.',
    ability: 'trash.purge',
    scope: 'projects:write',
    params: TrashedProjectParams,
    response: PurgedItem,
    errors: [404],
    handle: async ({ ctx, params }) => ({ success: true, purged: await purgeProject(ctx, params.project_id) }),
  }),
  endpoint({
    method: 'delete',
    path: '/api/trash',
    tag,
    summary: 'Empty a team’s trash',
    description: 'Purges everything that is in it now.',
    ability: 'trash.empty',
    scope: 'projects:write',
    query: EmptyTrash,
    response: EmptiedTrash,
    errors: [404],
    handle: async ({ ctx, query }) => ({ purged: await emptyTrash(ctx, query.team_id) }),
  }),
];
