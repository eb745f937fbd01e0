import { z } from 'zod';
import { type Endpoint, endpoint, JsonText } from '../endpoint/endpoint.js';
import { createProject } from './create-project.js';
import { getProject } from './get-project.js';
import { countProjects, listProjects } from './list-projects.js';
import { replaceProject } from './replace-project.js';
import {
  CreateProject,
  ListProjects,
  ProjectParams,
  ProjectRecord,
  ProjectWrite,
  ReplaceProject,
  TrashedProject,
  UpdateProject,
} from './schema.js';
import { trashProject } from './trash-project.js';
import { updateProject } from './update-project.js';

const tag = 'Projects';

export const projectRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/projects',
    tag,
    summary: 'List the projects of the caller’s teams',
    description: 'A `limit` above 2,000 is clamped.',
    ability: 'project.list',
    scope: 'projects:read',
    query: ListProjects,
    response: z.array(ProjectRecord),
    pages: { total: ({ ctx, query }) => countProjects(ctx, query) },
    handle: async ({ ctx, query }) => (await listProjects(ctx, query)).map((json) => new JsonText(json)),
  }),
  endpoint({
    method: 'post',
    path: '/api/projects',
    tag,
    summary: 'Create a project',
    ability: 'project.write',
    scope: 'projects:write',
    scopeEnforced: true,
    body: CreateProject,
    response: ProjectWrite,
    status: 201,
    errors: [404],
    example: { name: 'Apollo', team_id: '019a9f00-0000-7000-8000-000000000001', start_date: '2026-12-01' },
    handle: ({ ctx, body }) => createProject(ctx, body),
  }),
  endpoint({
    method: 'get',
    path: '/api/projects/:project_id',
    tag,
    summary: 'Read a project',
    ability: 'project.read',
    scope: 'projects:read',
    params: ProjectParams,
    response: ProjectRecord,
    errors: [404],
    handle: async ({ ctx, params }) => new JsonText(await getProject(ctx, params.project_id)),
  }),
  endpoint({
    method: 'patch',
    path: '/api/projects/:project_id',
    tag,
    summary: 'Update a project',
    ability: 'project.write',
    scope: 'projects:write',
    params: ProjectParams,
    body: UpdateProject,
    response: ProjectWrite,
    errors: [404],
    example: { status: 'completed' },
    handle: ({ ctx, params, body }) => updateProject(ctx, params.project_id, body),
  }),
  endpoint({
    method: 'put',
    path: '/api/projects/:project_id',
    tag,
    summary: 'Replace a project',
    description: 'What is left out goes back to its default.',
    ability: 'project.write',
    scope: 'projects:write',
    scopeEnforced: true,
    params: ProjectParams,
    body: ReplaceProject,
    response: ProjectWrite,
    errors: [404],
    example: { name: 'Apollo', status: 'active' },
    handle: ({ ctx, params, body }) => replaceProject(ctx, params.project_id, body),
  }),
  endpoint({
    method: 'delete',
    path: '/api/projects/:project_id',
    tag,
    summary: 'Move a project and its tasks to the trash',
    ability: 'project.write',
    scope: 'projects:write',
    scopeEnforced: true,
    params: ProjectParams,
    response: TrashedProject,
    errors: [404],
    handle: ({ ctx, params }) => trashProject(ctx, params.project_id),
  }),
];
