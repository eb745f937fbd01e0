import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { getNotificationSettings } from './get-settings.js';
import { listNotifications } from './list-notifications.js';
import { markNotification } from './mark-notification.js';
import { markNotifications } from './mark-notifications.js';
import { saveNotificationSettings } from './save-settings.js';
import {
  ListNotifications,
  MarkedNotifications,
  MarkNotification,
  MarkNotifications,
  Notification,
  NotificationPath,
  NotificationSettings,
} from './schema.js';

export const notificationRoutes: Endpoint[] = [
  endpoint({
    id: 'listNotifications',
    method: 'get',
    path: '/api/notifications',
    tag: 'Notifications',
    summary: 'List notifications',
    description:
      'Newest first: tasks assigned to the caller, comments that name or answer them, messages of automations, approval requests, runs that failed. ' +
      'Of several alike at most three stand unread; `more` counts those that the newest stands for.',
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
    description:
      'With `up_to`, newer notifications stay unread; with `run_id`, `request_id` or `item_id`, only those of it are marked.',
    ability: 'notification.mark',
    scope: 'automations:write',
    body: MarkNotifications,
    example: { up_to: '0197a1c0-8000-7c3a-9f00-1f2e3d4c5b6a' },
    response: MarkedNotifications,
    handle: ({ ctx, body }) => markNotifications(ctx, body),
  }),
  endpoint({
    id: 'getNotificationSettings',
    method: 'get',
    path: '/api/notifications/settings',
    tag: 'Notifications',
    summary: 'Get the settings of notifications',
    ability: 'notification.list',
    scope: 'automations:read',
    response: NotificationSettings,
    handle: ({ ctx }) => getNotificationSettings(ctx),
  }),
  endpoint({
    id: 'saveNotificationSettings',
    method: 'put',
    path: '/api/notifications/settings',
    tag: 'Notifications',
    summary: 'Replace the settings of notifications',
    ability: 'notification.mark',
    scope: 'automations:write',
    body: NotificationSettings,
    example: { mail: 'daily' },
    response: NotificationSettings,
    handle: ({ ctx, body }) => saveNotificationSettings(ctx, body),
  }),
];
