import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { readCycleTimes } from './read-cycle-times.js';
import { CycleTimes, ReadCycleTimes } from './schema.js';

export const cycleTimeRoutes: Endpoint[] = [
  endpoint({
    id: 'getCycleTime',
    method: 'get',
    path: '/api/work-items/cycle-time',
    tag: 'Work items',
    summary: 'Get cycle times',
    description:
      'From the creation of an issue to the merge of the last pull request that closes it, by the code host’s clock. Counts deliveries since the team bound the repository.',
    ability: 'cycle_time.read',
    scope: 'graph:read',
    query: ReadCycleTimes,
    response: CycleTimes,
    errors: [404],
    handle: ({ ctx, query }) => readCycleTimes(ctx, query),
  }),
];
