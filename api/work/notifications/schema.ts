import { z } from 'zod';
import { Flag, Id, TaskId, Timestamp } from '../../platform/fields.js';
import { NOTICE_MAILS } from './rules.js';
import { byCursor } from '../../platform/endpoint/pages.js';

/** Kinds of notifications. */
export const NOTIFICATION_KINDS = [
  'message',
  'approval_requested',
  'approval_reminder',
  'automation_disabled',
  'plan_staged',
  'plan_reminder',
  'change_requested',
  'change_reminder',
  'change_ended',
  'member_added',
  'assigned',
  'imported',
  'mentioned',
  'commented',
  'status_changed',
  'run_ended',
  'project_updated',
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const ListNotifications = z.object({
  unread: Flag.meta({ description: 'Only unread notifications' }),
  ...byCursor('notification_id'),
});
export type ListNotifications = z.output<typeof ListNotifications>;

export const Notification = z
  .object({
    notification_id: z.string(),
    kind: z.enum(NOTIFICATION_KINDS),
    message: z.string(),
    team_id: z.string().nullable(),
    run_id: z.string().nullable(),
    action_id: z.string().nullable().meta({ description: 'Plan that waits for a confirmation' }),
    request_id: z.string().nullable().meta({ description: 'Change request that waits for a decision, or has ended' }),
    item_id: z
      .string()
      .nullable()
      .meta({ description: 'Task that was assigned, commented on, closed or reopened, or project with a new update' }),
    comment_id: z.string().nullable(),
    triggered_by: z
      .string()
      .nullable()
      .meta({ description: 'User who assigned, commented or rejected; null if nobody or unknown' }),
    more: z.int().meta({ description: 'Unread notifications like this one that it stands for, besides itself' }),
    automation_name: z.string().nullable().meta({ description: 'null without a run' }),
    gate: z
      .object({
        state: z.enum(['pending', 'approved', 'rejected', 'lapsed', 'closed']),
        decided_by: z.string().nullable(),
        decided_at: Timestamp.nullable(),
      })
      .nullable()
      .meta({ description: 'State of the requested approval; `closed`: the run ended undecided' }),
    created_at: Timestamp,
    read_at: Timestamp.nullable(),
  })
  .meta({ id: 'Notification' });
export type Notification = z.output<typeof Notification>;

export const NotificationPath = z.object({ notification_id: Id });
export const MarkNotification = z.object({ read: z.boolean() }).meta({ id: 'MarkNotification' });
export const MarkNotifications = z
  .object({
    up_to: Id.nullish().meta({ description: 'The newest `notification_id` that was seen; newer ones stay unread' }),
    run_id: Id.nullish().meta({ description: 'Only notifications of this run' }),
    request_id: Id.nullish().meta({ description: 'Only notifications of this change request' }),
    item_id: TaskId.nullish().meta({ description: 'Only notifications about this task' }),
  })
  .meta({ id: 'MarkNotifications' });
export type MarkNotifications = z.output<typeof MarkNotifications>;
export const MarkedNotifications = z.object({ marked: z.int() }).meta({ id: 'MarkedNotifications' });

export const NotificationSettings = z
  .object({
    mail: z.enum(NOTICE_MAILS).meta({
      description:
        'When an email lists what was assigned, mentioned, commented, closed, reopened or ended badly and is unread: `soon` (10 minutes later), `daily` (at 8 in the time zone of the profile), `never`',
    }),
  })
  .meta({ id: 'NotificationSettings' });
export type NotificationSettings = z.output<typeof NotificationSettings>;
