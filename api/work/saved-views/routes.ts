import { z } from 'zod';
import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { createView } from './create-view.js';
import { deleteView } from './delete-view.js';
import { listViews } from './list-views.js';
import { present } from './present.js';
import { readView } from './read-view.js';
import { listGroups } from './results/list-groups.js';
import { listResults } from './results/list-results.js';
import {
  CreateSavedView,
  DeletedSavedView,
  ListResults,
  ListSavedViews,
  SavedViewParams,
  SavedViewRecord,
  UpdateSavedView,
  ViewGroup,
  ViewResult,
} from './schema.js';
import { setDefault } from './set-default.js';
import { updateView } from './update-view.js';

const read = { tag: 'Saved views', ability: 'saved_view.read', scope: 'tasks:read' } as const;
const own = { tag: 'Saved views', ability: 'saved_view.own', scope: 'tasks:write' } as const;

const results: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listSavedViewResults',
    method: 'get',
    path: '/api/saved-views/:view_id/results',
    summary: 'List results of a saved view',
    description:
      'What passes the filters, of what you may read: flat records of the view’s entity, tasks and projects with `custom_fields`. By group first, then by `sort`; null last. Pages end at 10,000 rows.',
    params: SavedViewParams,
    query: ListResults,
    response: z.array(ViewResult),
    errors: [404, 409],
    capped: true,
    searches: true,
    pages: { cut: true, batch: 500 },
    handle: ({ ctx, params, query }) => listResults(ctx, params.view_id, query),
  }),
  endpoint({
    ...read,
    id: 'listSavedViewGroups',
    method: 'get',
    path: '/api/saved-views/:view_id/groups',
    summary: 'List groups of a saved view',
    description:
      'The results counted by `group_by`, in the order of the results; at most 1,000. `X-Truncated: true`: the view’s words match more than 10,000 records, of which 10,000 are counted. 400 for a view without `group_by`.',
    params: SavedViewParams,
    response: z.array(ViewGroup),
    errors: [404, 409],
    capped: true,
    searches: true,
    async handle({ ctx, params }) {
      const { groups, indexing, capped } = await listGroups(ctx, params.view_id);
      const headers = { ...(capped && { 'X-Truncated': 'true' }), ...(indexing && { 'X-Search-Indexing': 'true' }) };
      return new Reply(groups, { headers });
    },
  }),
];

export const savedViewRoutes: Endpoint[] = [
  endpoint({
    ...read,
    id: 'listSavedViews',
    method: 'get',
    path: '/api/saved-views',
    summary: 'List saved views',
    description: 'Your own, and those shared with your teams, oldest first.',
    query: ListSavedViews,
    response: z.array(SavedViewRecord),
    handle: ({ ctx, query }) => listViews(ctx, query),
  }),
  endpoint({
    tag: 'Saved views',
    ability: 'saved_view.write',
    scope: 'tasks:write',
    id: 'createSavedView',
    method: 'post',
    path: '/api/saved-views',
    summary: 'Save a view',
    description: 'Yours alone unless `is_shared` is set. You may have 200.',
    body: CreateSavedView,
    response: SavedViewRecord,
    status: 201,
    errors: [404],
    example: {
      name: 'Urgent work',
      entity_type: 'task',
      team_id: '019a9f00-0000-7000-8000-000000000003',
      is_shared: true,
      filters: { status: ['todo', 'in_progress'], priority: ['high', 'urgent'], custom_fields: { severity: ['high'] } },
      sort: [{ field: 'due_date', direction: 'asc' }],
      group_by: 'status',
      layout: 'board',
    },
    handle: ({ ctx, body }) => createView(ctx, body),
  }),
  endpoint({
    ...read,
    id: 'getSavedView',
    method: 'get',
    path: '/api/saved-views/:view_id',
    summary: 'Get a saved view',
    description: 'A view that is neither yours nor shared with you is a 404.',
    params: SavedViewParams,
    response: SavedViewRecord,
    errors: [404],
    handle: async ({ ctx, params }) => present(await readView(ctx, params.view_id)),
  }),
  endpoint({
    ...own,
    id: 'updateSavedView',
    method: 'patch',
    path: '/api/saved-views/:view_id',
    summary: 'Update a saved view',
    description: 'Every field is optional; `filters` and `sort` are replaced as a whole. 403 for a view of another person.',
    params: SavedViewParams,
    body: UpdateSavedView,
    response: SavedViewRecord,
    errors: [404],
    example: { is_shared: true },
    handle: ({ ctx, params, body }) => updateView(ctx, params.view_id, body),
  }),
  endpoint({
    ...own,
    id: 'deleteSavedView',
    method: 'delete',
    path: '/api/saved-views/:view_id',
    summary: 'Delete a saved view',
    params: SavedViewParams,
    response: DeletedSavedView,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteView(ctx, params.view_id);
      return { success: true, view_id: params.view_id };
    },
  }),
  endpoint({
    ...own,
    id: 'setDefaultSavedView',
    method: 'post',
    path: '/api/saved-views/:view_id/default',
    summary: 'Make a saved view your default',
    description: 'One default for each entity: it replaces the one before.',
    params: SavedViewParams,
    response: SavedViewRecord,
    errors: [404],
    handle: ({ ctx, params }) => setDefault(ctx, params.view_id),
  }),
  ...results,
];
