import { z } from 'zod';
import { type Endpoint, endpoint, JsonText, Reply } from '../../platform/endpoint/endpoint.js';
import { expectedVersion, replyUnlessKnown, versionEtag } from '../../platform/endpoint/etags.js';
import { createWorkItem } from './create-work-item.js';
import { getWorkItem } from './get-work-item.js';
import { listWorkItems } from './list-work-items.js';
import { replaceWorkItem } from './replace-work-item.js';
import {
  CreateWorkItem,
  ListWorkItems,
  ReplaceWorkItem,
  TrashedWorkItem,
  WholeWorkItem,
  WorkItem,
  WorkItemParams,
} from './schema.js';
import { trashWorkItem } from './trash-work-item.js';

const tag = 'Work items';

export const workItemRoutes: Endpoint[] = [
  endpoint({
    id: 'listWorkItems',
    method: 'get',
    path: '/api/work-items',
    tag,
    summary: 'List work items',
    description:
      'Tasks, projects, notes, files, whiteboards and docs, oldest first. Without a filter: all items of your teams. At most 10,000, at which `offset` and `limit` end too; `X-Truncated: true` marks a cut list.',
    capped: true,
    searches: true,
    ability: 'item.list',
    scope: 'graph:read',
    query: ListWorkItems,
    response: z.array(WorkItem),
    errors: [404],
    pages: { cut: true },
    handle: ({ ctx, query }) => listWorkItems(ctx, query),
  }),
  endpoint({
    id: 'createWorkItem',
    method: 'post',
    path: '/api/work-items',
    tag,
    summary: 'Create a work item',
    description:
      'A task needs `project_id`, a project `team_id`. The others go to the project or team given, else to your default team, else to your oldest team in which you may write. A strict token needs `projects:write` to create a project. A `task_id` of your own makes creating a task repeatable.',
    ability: 'item.write',
    scope: 'tasks:write',
    body: CreateWorkItem,
    response: WholeWorkItem,
    status: 201,
    alsoStatus: [200],
    etag: 'created',
    errors: [404, 409],
    example: { type: 'doc', title: 'Launch plan', content: '# Launch plan', audience: 'everyone' },
    async handle({ ctx, body }) {
      const { json, version, created } = await createWorkItem(ctx, body);
      return new Reply(new JsonText(json), { status: created ? 201 : 200, headers: { ETag: versionEtag(version) } });
    },
  }),
  endpoint({
    id: 'getWorkItem',
    method: 'get',
    path: '/api/work-items/:item_id',
    tag,
    summary: 'Get a work item',
    description: 'With If-None-Match an unchanged item is a 304.',
    etag: 'kept',
    ability: 'item.read',
    scope: 'graph:read',
    params: WorkItemParams,
    response: WholeWorkItem,
    errors: [404],
    async handle({ ctx, params, headers }) {
      const { json, version } = await getWorkItem(ctx, params.item_id);
      return replyUnlessKnown(versionEtag(version), headers['if-none-match'], new JsonText(json));
    },
  }),
  endpoint({
    id: 'replaceWorkItem',
    method: 'put',
    path: '/api/work-items/:item_id',
    tag,
    summary: 'Replace a work item',
    description:
      'An omitted field of the record is reset to its default. Fields of a task or a project that the record does not show, such as `due_date`, stay unless they are given. A strict token needs `projects:write` to change a project.',
    ability: 'item.write',
    scope: 'tasks:write',
    params: WorkItemParams,
    body: ReplaceWorkItem,
    response: WholeWorkItem,
    errors: [404, 409],
    etag: 'change',
    example: { title: 'Launch plan', content: '# Launch plan, second edition', version: 1 },
    async handle({ ctx, params, body, headers }) {
      const expected = expectedVersion('item', headers['if-match'], body.version);
      const { json, version } = await replaceWorkItem(ctx, params.item_id, body, expected);
      return new Reply(new JsonText(json), { headers: { ETag: versionEtag(version) } });
    },
  }),
  endpoint({
    id: 'deleteWorkItem',
    method: 'delete',
    path: '/api/work-items/:item_id',
    tag,
    summary: 'Delete a work item',
    ability: 'item.write',
    scope: 'tasks:write',
    params: WorkItemParams,
    response: TrashedWorkItem,
    errors: [404],
    handle: ({ ctx, params }) => trashWorkItem(ctx, params.item_id),
  }),
];
