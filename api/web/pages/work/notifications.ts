import { z } from 'zod';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { Id, TaskId } from '../../../platform/fields.js';
import { getNotificationSettings } from '../../../work/notifications/get-settings.js';
import { listNotifications } from '../../../work/notifications/list-notifications.js';
import { markNotification } from '../../../work/notifications/mark-notification.js';
import { markNotifications } from '../../../work/notifications/mark-notifications.js';
import { saveNotificationSettings } from '../../../work/notifications/save-settings.js';
import { findTaskNumbers } from '../../../work/tasks/read/find-task-numbers.js';
import { NotificationPath, NotificationSettings } from '../../../work/notifications/schema.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { SHOWN } from '../teams/invitations.js';
import { groupNotices, NOTICE_KINDS, wordFolded, wordMore, wordReason } from './inbox-groups.js';
import { type Redirect, page, type Page, requireUser, type FormError } from '../../page.js';

const PATH = '/app/notifications';
/** Notifications that are grouped, and groups that are shown; older notifications are in the API. */
const MAX_READ = 200;
const MAX_SHOWN = 50;

/** Everything up to a notification, or only what is about one task, run, plan or change request. */
const Seen = z.object({
  up_to: Id,
  item_id: TaskId.optional(),
  run_id: Id.optional(),
  action_id: Id.optional(),
  request_id: Id.optional(),
});

const back = (_visit: unknown, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: PATH, notice: { kind: 'bad', text: message } });

export const notificationPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'notification.list',
    async handle({ ctx, me }) {
      const person = requireUser({ me });
      const all = await listNotifications(ctx, { unread: false, limit: MAX_READ });
      const groups = (await groupNotices(ctx, person, all)).slice(0, MAX_SHOWN);
      const notifications = groups.flatMap(({ leads, others }) => [...leads, ...others]);
      const decided = notifications.filter(({ gate }) => gate?.decided_by);
      const [names, about, settings, numbers, invitations] = await Promise.all([
        namesIn(ctx, person, decided),
        describeRuns(ctx, notifications),
        getNotificationSettings(ctx),
        findTaskNumbers(ctx, [...new Set(groups.flatMap(({ newest }) => newest.item_id ?? []))]),
        listOwnInvitations(ctx, SHOWN),
      ]);
      const data = {
        groups,
        kinds: NOTICE_KINDS,
        wordReason,
        wordFolded,
        wordMore,
        names,
        about,
        settings,
        numbers,
        invitations,
        teamNames: mapTeamNames(person),
        isCut: all.length > notifications.length || all.length === MAX_READ,
      };
      return { view: 'work/notifications', title: 'Inbox', data };
    },
  }),
  page({
    method: 'post',
    path: `${PATH}/read`,
    access: 'notification.mark',
    form: Seen,
    async handle({ ctx, form }) {
      await markNotifications(ctx, form);
      return { to: PATH };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: `${PATH}/settings`,
    access: 'notification.mark',
    form: NotificationSettings,
    async handle({ ctx, form }) {
      await saveNotificationSettings(ctx, form);
      return { to: PATH, notice: { kind: 'good', text: 'Saved.' } };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: `${PATH}/:notification_id`,
    access: 'notification.mark',
    params: NotificationPath,
    form: z.object({ read: z.enum(['true', 'false']) }),
    async handle({ ctx, params, form }) {
      await markNotification(ctx, params.notification_id, form.read === 'true');
      return { to: PATH };
    },
    onError: back,
  }),
];
