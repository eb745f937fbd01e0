import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { TaskParams } from '../schema.js';
import { followTask } from './follow-task.js';
import { getFollowers } from './get-followers.js';
import { FollowTask, TaskFollowers } from './schema.js';

const tag = 'Tasks';

export const followerRoutes: Endpoint[] = [
  endpoint({
    id: 'getTaskFollowers',
    method: 'get',
    path: '/api/tasks/:task_id/followers',
    tag,
    summary: 'List followers of a task',
    ability: 'task.read',
    scope: 'tasks:read',
    params: TaskParams,
    response: TaskFollowers,
    errors: [404],
    handle: ({ ctx, params }) => getFollowers(ctx, params.task_id),
  }),
  endpoint({
    id: 'followTask',
    method: 'put',
    path: '/api/tasks/:task_id/followers/me',
    tag,
    summary: 'Follow a task, or no more',
    description:
      'Who follows a task is notified of its comments, and when it is closed or reopened. Its creator and its assignee follow it unless they choose otherwise, and so does who comments on it or is mentioned there.',
    ability: 'task.follow',
    scope: 'tasks:write',
    params: TaskParams,
    body: FollowTask,
    example: { follows: true },
    response: TaskFollowers,
    errors: [404, 409],
    handle: ({ ctx, params, body }) => followTask(ctx, params.task_id, body.follows),
  }),
];
