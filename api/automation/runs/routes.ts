import { z } from 'zod';
import { AutomationParams } from '../definitions/schema.js';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { getRun } from './get-run.js';
import { listRuns } from './list-runs.js';
import { ListRuns, RunParams, RunRecord, RunSummary } from './schema.js';

const read = { tag: 'Automations', ability: 'automation.read', scope: 'automations:read' } as const;

/** Precede the routes of automations: their `:automation_id` would match `runs`. */
export const runRoutes: Endpoint[] = [
  endpoint({
    ...read,
    id: 'getRun',
    method: 'get',
    path: '/api/automations/runs/:run_id',
    summary: 'Get a run',
    params: RunParams,
    response: RunRecord,
    errors: [404],
    handle: ({ ctx, params }) => getRun(ctx, params.run_id),
  }),
  endpoint({
    ...read,
    id: 'listRuns',
    method: 'get',
    path: '/api/automations/:automation_id/runs',
    summary: 'List runs of an automation',
    params: AutomationParams,
    query: ListRuns,
    response: z.array(RunSummary),
    errors: [404],
    handle: ({ ctx, params, query }) => listRuns(ctx, params.automation_id, query),
  }),
];
