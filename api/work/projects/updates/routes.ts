import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { ProjectParams } from '../schema.js';
import { deleteUpdate } from './delete-update.js';
import { editUpdate } from './edit-update.js';
import { listUpdates } from './list-updates.js';
import { postUpdate } from './post-update.js';
import {
  DeletedProjectUpdate,
  EditProjectUpdate,
  ListProjectUpdates,
  PostProjectUpdate,
  ProjectUpdateParams,
  ProjectUpdateRecord,
} from './schema.js';

const tag = 'Projects';

export const projectUpdateRoutes: Endpoint[] = [
  endpoint({
    id: 'listProjectUpdates',
    method: 'get',
    path: '/api/projects/:project_id/updates',
    tag,
    summary: 'List updates of a project',
    description: 'Newest first. The health of the newest one is the `health` of the project.',
    ability: 'project.read',
    scope: 'projects:read',
    params: ProjectParams,
    query: ListProjectUpdates,
    response: z.array(ProjectUpdateRecord),
    errors: [404],
    handle: ({ ctx, params, query }) => listUpdates(ctx, params.project_id, query),
  }),
  endpoint({
    id: 'postProjectUpdate',
    method: 'post',
    path: '/api/projects/:project_id/updates',
    tag,
    summary: 'Post an update of a project',
    description:
      'Its `health` becomes that of the project; the version of the project stays. Lead and creator of the project are notified.',
    ability: 'project_update.write',
    scope: 'projects:write',
    params: ProjectParams,
    body: PostProjectUpdate,
    response: ProjectUpdateRecord,
    status: 201,
    errors: [404],
    example: { health: 'at_risk', content: 'The antenna comes two weeks late.' },
    handle: ({ ctx, params, body }) => postUpdate(ctx, params.project_id, body),
  }),
  endpoint({
    id: 'editProjectUpdate',
    method: 'patch',
    path: '/api/project-updates/:update_id',
    tag,
    summary: 'Edit an update of a project',
    description: 'Only the author may edit.',
    ability: 'project_update.write',
    scope: 'projects:write',
    params: ProjectUpdateParams,
    body: EditProjectUpdate,
    response: ProjectUpdateRecord,
    errors: [404],
    example: { health: 'on_track' },
    handle: ({ ctx, params, body }) => editUpdate(ctx, params.update_id, body),
  }),
  endpoint({
    id: 'deleteProjectUpdate',
    method: 'delete',
    path: '/api/project-updates/:update_id',
    tag,
    summary: 'Delete an update of a project',
    ability: 'project_update.write',
    scope: 'projects:write',
    params: ProjectUpdateParams,
    response: DeletedProjectUpdate,
    errors: [404],
    async handle({ ctx, params }) {
      await deleteUpdate(ctx, params.update_id);
      return { success: true, update_id: params.update_id };
    },
  }),
];
