import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import type { Notification } from '../../../work/notifications/schema.js';

/** What a notification is about, in the order in which it counts. */
const SUBJECTS = ['item_id', 'run_id', 'action_id', 'request_id'] as const;

/** Notifications about one task, run, plan or change request. */
interface NoticeGroup {
  newest: Notification;
  /** Older ones, newest first. */
  others: Notification[];
  isNew: boolean;
  /** Field and id of the subject; null of a notification that is about nothing else. */
  subject: { name: (typeof SUBJECTS)[number]; id: string } | null;
  /** Title of the task as it is now; null without a task that the reader can open. */
  title: string | null;
}

/** Titles of the tasks that notifications name, as they are now, without those of teams that the reader has left. */
async function readTitles(ctx: Context, me: User, notifications: readonly Notification[]): Promise<Map<string, string>> {
  const ids = new Set(notifications.flatMap(({ item_id }) => item_id ?? []));
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const places = ids.size === 0 ? [] : (await findPlaces(ctx, [...ids])).values();
  return new Map([...places].flatMap(({ item_id, team_id, title }) => (own.has(team_id) ? [[item_id, title]] : [])));
}

const subjectOf = (one: Notification): NoticeGroup['subject'] => {
  const name = SUBJECTS.find((field) => one[field] !== null);
  return name === undefined ? null : { name, id: one[name] as string };
};

/** Groups notifications, newest first, by what they are about; a group stands where its newest one does. */
export async function groupNotices(ctx: Context, me: User, notifications: readonly Notification[]): Promise<NoticeGroup[]> {
  const titles = await readTitles(ctx, me, notifications);
  const groups = new Map<string, NoticeGroup>();
  for (const one of notifications) {
    const subject = subjectOf(one);
    // Clients choose ids of tasks, so one may be that of a run.
    const key = subject ? `${subject.name} ${subject.id}` : one.notification_id;
    const group = groups.get(key);
    const isNew = one.read_at === null;
    if (group) {
      group.others.push(one);
      group.isNew ||= isNew;
    } else {
      const title = titles.get(one.item_id ?? '');
      groups.set(key, { newest: one, others: [], isNew, subject, title: title === undefined ? null : withVisibleNames(title) });
    }
  }
  return [...groups.values()];
}

/** What was done, without the title of the task, which is that of its day: "Ada mentioned you: look here". */
export const wordReason = (message: string): string =>
  message.replace(/ (assigned you|mentioned you|commented)(?: on)? “.*?”(?=: |$)/su, ' $1');
