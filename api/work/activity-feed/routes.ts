import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { listActivity } from './list-activity.js';
import { ActivityEntry, ListActivity } from './schema.js';

export const activityRoutes: Endpoint[] = [
  endpoint({
    id: 'listActivity',
    method: 'get',
    path: '/api/activity',
    tag: 'Activity',
    summary: 'List activity',
    description:
      'Newest first. Changes write these entries, and nobody can edit them. Entries of an automation carry its creator and `actor_type` `automation`; `cause` tells what made the change, for whom, and who approved it.',
    ability: 'activity.list',
    scope: 'tasks:read',
    query: ListActivity,
    response: z.array(ActivityEntry),
    handle: ({ ctx, query }) => listActivity(ctx, query),
  }),
];
