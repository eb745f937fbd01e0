import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { RunParams } from '../schema.js';
import { listDeadLetters } from './list-dead-letters.js';
import { retryRun } from './retry-run.js';
import { DeadLetterList, ListDeadLetters, RetriedRun, RetryRun } from './schema.js';

const tag = 'Dead letter';

export const deadLetterRoutes: Endpoint[] = [
  endpoint({
    id: 'listDeadLetters',
    method: 'get',
    path: '/api/automations/dead-letter',
    tag,
    summary: 'List failed runs',
    description: 'Newest first. A run and its failed replays leave the list when a replay succeeds. Test runs never appear.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListDeadLetters,
    response: DeadLetterList,
    pages: { cut: true, counted: true },
    errors: [403],
    handle: ({ ctx, query }) => listDeadLetters(ctx, query),
  }),
  endpoint({
    id: 'replayRun',
    method: 'post',
    path: '/api/automations/dead-letter/:run_id/retry',
    tag,
    summary: 'Replay a failed run',
    description: 'Creates a new run for the same event, with side effects. Shares a rate limit per user with execute and test.',
    ability: 'automation.dispatch',
    scope: 'automations:write',
    scopeEnforced: true,
    limit: 'automation_dispatch',
    params: RunParams,
    body: RetryRun,
    response: RetriedRun,
    errors: [404, 409],
    example: { version: 'current', actions: 'failed' },
    handle: ({ ctx, params, body }) => retryRun(ctx, params.run_id, body),
  }),
];
