import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { AutomationParams, Paging } from '../schema.js';
import { getVersion, listVersions } from './list-versions.js';
import { rollBack } from './roll-back.js';
import { RollBack, RolledBack, VersionParams, VersionRecord } from './schema.js';

const tag = 'Automations';

export const versionRoutes: Endpoint[] = [
  endpoint({
    id: 'listAutomationVersions',
    method: 'get',
    path: '/api/automations/:automation_id/versions',
    tag,
    summary: 'List versions of an automation',
    description:
      'Newest first. Each save created a version. The newest stay up to a number and a size that the installation sets, and older ones while a run refers to them; the others are deleted, so numbers may be missing.',
    ability: 'automation.read',
    scope: 'automations:read',
    params: AutomationParams,
    query: Paging,
    response: z.array(VersionRecord),
    errors: [404],
    pages: { batch: 10 },
    handle: ({ ctx, params, query }) => listVersions(ctx, params.automation_id, query),
  }),
  endpoint({
    id: 'getAutomationVersion',
    method: 'get',
    path: '/api/automations/:automation_id/versions/:version',
    tag,
    summary: 'Get a version of an automation',
    description: '404 as well for a version that was deleted; `detail` says so.',
    ability: 'automation.read',
    scope: 'automations:read',
    params: VersionParams,
    response: VersionRecord,
    errors: [404],
    handle: ({ ctx, params }) => getVersion(ctx, params.automation_id, params.version),
  }),
  endpoint({
    id: 'rollBackAutomation',
    method: 'post',
    path: '/api/automations/:automation_id/rollback',
    tag,
    summary: 'Roll back an automation',
    description: 'Creates a new version. 409 if the version refers to deleted secrets, unless `force` is set.',
    ability: 'automation.write',
    scope: 'automations:write',
    params: AutomationParams,
    body: RollBack,
    response: RolledBack,
    errors: [404, 409],
    example: { version: 1 },
    handle: ({ ctx, params, body }) => rollBack(ctx, params.automation_id, body),
  }),
];
