import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { createStage } from './create-stage.js';
import { deleteStage } from './delete-stage.js';
import { findStages } from './find-stages.js';
import { CreateStage, DeletedStage, ListStages, StageParams, StageRecord, UpdateStage } from './schema.js';
import { updateStage } from './update-stage.js';

const tag = 'Stages';

export const stageRoutes: Endpoint[] = [
  endpoint({
    id: 'listStages',
    method: 'get',
    path: '/api/stages',
    tag,
    summary: 'List stages',
    description: 'The stages of a team in their order. A team has at most 20.',
    ability: 'stage.list',
    scope: 'tasks:read',
    query: ListStages,
    response: z.array(StageRecord),
    handle: ({ ctx, query }) => findStages(ctx, [query.team_id]),
  }),
  endpoint({
    id: 'createStage',
    method: 'post',
    path: '/api/stages',
    tag,
    summary: 'Create a stage',
    description: 'Team and status can never change. Tasks get a stage by their `stage_id`.',
    ability: 'stage.manage',
    scope: 'projects:write',
    body: CreateStage,
    response: StageRecord,
    status: 201,
    errors: [404, 409],
    example: { team_id: '019a9f00-0000-7000-8000-000000000003', name: 'In QA', status: 'in_review' },
    handle: ({ ctx, body }) => createStage(ctx, body),
  }),
  endpoint({
    id: 'updateStage',
    method: 'patch',
    path: '/api/stages/:stage_id',
    tag,
    summary: 'Update a stage',
    description: 'Renames a stage, or gives it another place in the order. Its tasks stay as they are.',
    ability: 'stage.manage',
    scope: 'projects:write',
    params: StageParams,
    body: UpdateStage,
    response: StageRecord,
    errors: [404, 409],
    example: { name: 'In QA' },
    handle: ({ ctx, params, body }) => updateStage(ctx, params.stage_id, body),
  }),
  endpoint({
    id: 'deleteStage',
    method: 'delete',
    path: '/api/stages/:stage_id',
    tag,
    summary: 'Delete a stage',
    description:
      'Its tasks keep their status and are in no stage; each of them changes. One that is interrupted goes on when it is repeated.',
    ability: 'stage.manage',
    scope: 'projects:write',
    params: StageParams,
    response: DeletedStage,
    errors: [404, 409],
    async handle({ ctx, params }) {
      const tasks = await deleteStage(ctx, params.stage_id);
      return { success: true, stage_id: params.stage_id, tasks };
    },
  }),
];
