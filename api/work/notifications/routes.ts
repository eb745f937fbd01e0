import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { listNotifications } from './list-notifications.js';
import { markNotification } from './mark-notification.js';
import { markNotifications } from './mark-notifications.js';
import {
  ListNotifications,
  MarkedNotifications,
  MarkNotification,
  MarkNotifications,
  Notification,
  NotificationPath,
} from './schema.js';

export const notificationRoutes: Endpoint[] = [
  endpoint({
    id: 'listNotifications',
    method: 'get',
    path: '/api/notifications',
    tag: 'Notifications',
    summary: 'List notifications',
    description: 'Newest first: messages of automations, approval requests, and automations that were disabled.',
    ability: 'notification.list',
    scope: 'automations:read',
    query: ListNotifications,
    response: z.array(Notification),
    handle: ({ ctx, query }) => listNotifications(ctx, query),
  }),
  endpoint({
    id: 'updateNotification',
    method: 'patch',
    path: '/api/notifications/:notification_id',
    tag: 'Notifications',
    summary: 'Mark a notification as read or unread',
    ability: 'notification.mark',
    scope: 'automations:write',
    params: NotificationPath,
    body: MarkNotification,
    example: { read: true },
    response: Notification,
    errors: [404],
    handle: ({ ctx, params, body }) => markNotification(ctx, params.notification_id, body.read),
  }),
  endpoint({
    id: 'markNotificationsRead',
    method: 'post',
    path: '/api/notifications/read',
    tag: 'Notifications',
    summary: 'Mark notifications as read',
    description: 'With `up_to`, newer notifications stay unread; with `run_id`, only those of that run are marked.',
    ability: 'notification.mark',
    scope: 'automations:write',
    body: MarkNotifications,
    example: { up_to: '0197a1c0-8000-7c3a-9f00-1f2e3d4c5b6a' },
    response: MarkedNotifications,
    handle: ({ ctx, body }) => markNotifications(ctx, body),
  }),
];
