import { z } from 'zod';
import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { createRelation } from './create-relation.js';
import { deleteRelation } from './delete-relation.js';
import { listRelations, type RelationList } from './list-relations.js';
import { CreateRelation, DeletedRelation, ItemParams, ItemRelation, ListRelations, Relation, RelationParams } from './schema.js';

const tag = 'Work items';

const listAnswer = ({ relations, truncated }: RelationList) =>
  new Reply(relations, truncated ? { headers: { 'X-Truncated': 'true' } } : {});

/** A list of edges that an item shows under one effective type. */
const edges = (id: string, path: 'children' | 'parents', summary: string, type: 'parent_child' | 'belongs_to') =>
  endpoint({
    id,
    method: 'get',
    path: `/api/work-items/:item_id/${path}`,
    tag,
    summary,
    description: 'Includes subtasks. At most 10,000, oldest first; `X-Truncated: true` marks a cut list.',
    capped: true,
    ability: 'item.read',
    scope: 'graph:read',
    params: ItemParams,
    response: z.array(ItemRelation),
    errors: [404],
    handle: async ({ ctx, params }) => listAnswer(await listRelations(ctx, params.item_id, { relation_type: type })),
  });

export const relationRoutes: Endpoint[] = [
  endpoint({
    id: 'createRelation',
    method: 'post',
    path: '/api/work-items/relations',
    tag,
    summary: 'Relate two work items',
    description:
      'The same edge in other words returns 200 with the stored one: `A belongs_to B` equals `B parent_child A`. `parent_child` between two tasks of one project sets `parent_task_id`. A cycle of `parent_child` or `blocks` is a 409.',
    ability: 'relation.write',
    scope: 'tasks:write',
    body: CreateRelation,
    response: Relation,
    status: 201,
    alsoStatus: [200],
    errors: [404, 409],
    example: {
      source_id: '019a9f00-0000-7000-8000-000000000011',
      target_id: '019a9f00-0000-7000-8000-000000000012',
      relation_type: 'blocks',
    },
    async handle({ ctx, body }) {
      const { created, relation } = await createRelation(ctx, body);
      return new Reply(relation, { status: created ? 201 : 200 });
    },
  }),
  endpoint({
    id: 'deleteRelation',
    method: 'delete',
    path: '/api/work-items/relations/:relation_id',
    tag,
    summary: 'Delete a relation',
    description:
      'Deleting the relation of a subtask to its parent moves the subtask to top level. One that follows from a recurrence is a 409.',
    ability: 'relation.write',
    scope: 'tasks:write',
    params: RelationParams,
    response: DeletedRelation,
    errors: [404, 409],
    async handle({ ctx, params }) {
      await deleteRelation(ctx, params.relation_id);
      return { success: true, relation_id: params.relation_id };
    },
  }),
  endpoint({
    id: 'listRelations',
    method: 'get',
    path: '/api/work-items/:item_id/relations',
    tag,
    summary: 'List relations of a work item',
    description:
      'In both directions, oldest first; items that the caller may not read are omitted. At most 10,000; `X-Truncated: true` marks a cut list.',
    capped: true,
    ability: 'item.read',
    scope: 'graph:read',
    params: ItemParams,
    query: ListRelations,
    response: z.array(ItemRelation),
    errors: [404],
    handle: async ({ ctx, params, query }) => listAnswer(await listRelations(ctx, params.item_id, query)),
  }),
  edges('listChildren', 'children', 'List children of a work item', 'parent_child'),
  edges('listParents', 'parents', 'List parents of a work item', 'belongs_to'),
];
