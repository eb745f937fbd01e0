import { z } from 'zod';
import { ClampedInt, Id, Timestamp } from '../core/fields.js';

/** What a notification is about. */
const NOTIFICATION_KINDS = ['message', 'approval_requested', 'approval_reminder', 'automation_disabled'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const ListNotifications = z.object({
  before: Id.optional().meta({ description: 'Go on after this one: its `notification_id`' }),
  limit: ClampedInt(1, 500, 100),
});
export type ListNotifications = z.output<typeof ListNotifications>;

export const Notification = z
  .object({
    notification_id: z.string(),
    kind: z.enum(NOTIFICATION_KINDS),
    message: z.string(),
    team_id: z.string().nullable(),
    run_id: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Notification' });
export type Notification = z.output<typeof Notification>;
