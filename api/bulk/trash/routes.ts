import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { getName, STORED_TYPES, type StoredType } from '../../work/items/rules.js';
import { emptyTrash } from './empty-trash.js';
import { countTrash, listTrash } from './list-trash.js';
import { purgeItem } from './purge-item.js';
import { purgeProject } from './purge-project.js';
import { purgeTask } from './purge-task.js';
import { restoreItem } from './restore-item.js';
import { restoreProject } from './restore-project.js';
import { restoreTask } from '../../work/tasks/write/restore-task.js';
import {
  EmptiedTrash,
  EmptyTrash,
  ListTrash,
  PurgedItem,
  Restored,
  TrashEntry,
  TrashedItemParams,
  TrashedProjectParams,
  TrashedTaskParams,
} from './schema.js';

const tag = 'Trash';

/** Routes of one type of `items`. */
const storedRoutes = (type: StoredType): Endpoint[] => [
  endpoint({
    id: `restore${getName(type)}`,
    method: 'post',
    path: `/api/trash/${type}/:item_id/restore`,
    tag,
    summary: `Restore a ${type}`,
    description: `A ${type} whose project is in the trash is a 409.`,
    ability: 'trash.restore',
    scope: 'tasks:write',
    params: TrashedItemParams,
    response: Restored,
    errors: [404, 409],
    handle: ({ ctx, params }) => restoreItem(ctx, type, params.item_id),
  }),
  endpoint({
    id: `purge${getName(type)}`,
    method: 'delete',
    path: `/api/trash/${type}/:item_id`,
    tag,
    summary: `Purge a ${type}`,
    description: `Permanently deletes the ${type} with its relations.`,
    ability: 'trash.purge',
    scope: 'tasks:write',
    params: TrashedItemParams,
    response: PurgedItem,
    errors: [404],
    handle: async ({ ctx, params }) => ({ success: true, purged: await purgeItem(ctx, type, params.item_id) }),
  }),
];

export const trashRoutes: Endpoint[] = [
  endpoint({
    id: 'listTrash',
    method: 'get',
    path: '/api/trash',
    tag,
    summary: 'List trash entries',
    ability: 'trash.list',
    scope: 'tasks:read',
    query: ListTrash,
    response: z.array(TrashEntry),
    pages: { total: ({ ctx, query }) => countTrash(ctx, query) },
    handle: ({ ctx, query }) => listTrash(ctx, query),
  }),
  endpoint({
    id: 'restoreTask',
    method: 'post',
    path: '/api/trash/task/:task_id/restore',
    tag,
    summary: 'Restore a task',
    description:
      'Also restores the subtasks of the same deletion. A task whose parent is in the trash is restored at top level; a task whose project is in the trash is a 409.',
    ability: 'trash.restore',
    scope: 'tasks:write',
    params: TrashedTaskParams,
    response: Restored,
    errors: [404, 409],
    handle: ({ ctx, params }) => restoreTask(ctx, params.task_id),
  }),
  endpoint({
    id: 'restoreProject',
    method: 'post',
    path: '/api/trash/project/:project_id/restore',
    tag,
    summary: 'Restore a project',
    description: 'Restores exactly the tasks and items that were deleted with it; what was deleted before stays in the trash.',
    ability: 'trash.restore',
    scope: 'projects:write',
    params: TrashedProjectParams,
    response: Restored,
    errors: [404],
    handle: ({ ctx, params }) => restoreProject(ctx, params.project_id),
  }),
  endpoint({
    id: 'purgeTask',
    method: 'delete',
    path: '/api/trash/task/:task_id',
    tag,
    summary: 'Purge a task',
    description: 'Permanently deletes the task, its comments and the subtasks of the same deletion. Its id can be used again.',
    ability: 'trash.purge',
    scope: 'tasks:write',
    params: TrashedTaskParams,
    response: PurgedItem,
    errors: [404],
    handle: async ({ ctx, params }) => ({ success: true, purged: await purgeTask(ctx, params.task_id) }),
  }),
  endpoint({
    id: 'purgeProject',
    method: 'delete',
    path: '/api/trash/project/:project_id',
    tag,
    summary: 'Purge a project',
    description:
      'Permanently deletes the project with all its tasks, notes, files, whiteboards and docs. Its automations end and its repositories are unbound; runs and the audit log stay.',
    ability: 'trash.purge',
    scope: 'projects:write',
    params: TrashedProjectParams,
    response: PurgedItem,
    errors: [404],
    handle: async ({ ctx, params }) => ({ success: true, purged: await purgeProject(ctx, params.project_id) }),
  }),
  ...STORED_TYPES.flatMap(storedRoutes),
  endpoint({
    id: 'emptyTrash',
    method: 'delete',
    path: '/api/trash',
    tag,
    summary: 'Empty the trash of a team',
    description: 'Permanently deletes everything that is in it now.',
    ability: 'trash.empty',
    scope: 'projects:write',
    query: EmptyTrash,
    response: EmptiedTrash,
    errors: [404],
    handle: async ({ ctx, query }) => ({ purged: await emptyTrash(ctx, query.team_id) }),
  }),
];
