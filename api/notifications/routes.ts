import { z } from 'zod';
import { type Endpoint, endpoint } from '../http/endpoint.js';
import { listNotifications } from './list-notifications.js';
import { ListNotifications, Notification } from './schema.js';

export const notificationRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/notifications',
    tag: 'Notifications',
    summary: 'List what you were told, newest first',
    description: 'By automations that notify, by gates that ask for your approval, and by automations that were switched off.',
    ability: 'notification.list',
    scope: 'automations:read',
    query: ListNotifications,
    response: z.array(Notification),
    pages: { by: 'notification_id' },
    handle: ({ ctx, query }) => listNotifications(ctx, query),
  }),
];
