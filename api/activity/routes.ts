import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint/endpoint.js';
import { listActivity } from './list-activity.js';
import { ActivityEntry, ListActivity } from './schema.js';

export const activityRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/activity',
    tag: 'Activity',
    summary: 'List who did what in the caller’s teams, newest first',
    description:
      'Written by the changes themselves and never changed; what an automation did carries its creator and `actor_type` `automation`.',
    ability: 'activity.list',
    scope: 'tasks:read',
    query: ListActivity,
    response: z.array(ActivityEntry),
    pages: { by: 'activity_id' },
    handle: ({ ctx, query }) => listActivity(ctx, query),
  }),
];
