import type { IconName } from '../../icons.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { hasQuestion } from '../../../work/notifications/rules.js';
import type { Notification } from '../../../work/notifications/schema.js';

/** What a notification is about, in the order in which it counts. */
const SUBJECTS = ['item_id', 'run_id', 'action_id', 'request_id'] as const;

/** Notifications about one task, run, plan or change request. */
interface NoticeGroup {
  newest: Notification;
  /** What the row tells: unread mentions and questions, newest first, else the newest. */
  leads: Notification[];
  /** The rest, newest first. */
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

/** Whether the reader is waited for: by a mention, or a comment with a question. Such a one is never folded behind others. */
const asksReader = ({ kind, message }: Notification): boolean =>
  kind === 'mentioned' || (kind === 'commented' && hasQuestion(wordReason(message)));

/** Groups notifications, newest first, by what they are about; a group stands where its newest one does. */
export async function groupNotices(ctx: Context, me: User, notifications: readonly Notification[]): Promise<NoticeGroup[]> {
  const titles = await readTitles(ctx, me, notifications);
  // Clients choose ids of tasks, so one may be that of a run.
  const keyOf = (one: Notification, subject = subjectOf(one)) =>
    subject ? `${subject.name} ${subject.id}` : one.notification_id;
  const groups = new Map<string, Notification[]>();
  for (const one of notifications) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups.values()].map((all): NoticeGroup => {
    const newest = all[0] as Notification;
    const asking = all.filter((one) => one.read_at === null && asksReader(one));
    const leads = asking.length > 0 ? asking : [newest];
    const title = titles.get(newest.item_id ?? '');
    return {
      newest,
      leads,
      others: all.filter((one) => !leads.includes(one)),
      isNew: all.some(({ read_at }) => read_at === null),
      subject: subjectOf(newest),
      title: title === undefined ? null : withVisibleNames(title),
    };
  });
}

/** What was done, without the title of the task, which is that of its day: "Ada mentioned you: look here". */
export const wordReason = (message: string): string =>
  message.replace(
    / (assigned you|mentioned you|commented|completed|canceled|closed|reopened|posted an update)(?: on)? “.*?”(?=: |$| as a duplicate$)/su,
    ' $1',
  );

/** How a notification of each kind is drawn, and what one is called. */
export const NOTICE_KINDS: Readonly<Record<Notification['kind'], { icon: IconName; label: string; noun: string }>> = {
  message: { icon: 'mail', label: 'Message', noun: 'message' },
  approval_requested: { icon: 'approve', label: 'Approval requested', noun: 'request' },
  approval_reminder: { icon: 'clock', label: 'Approval reminder', noun: 'reminder' },
  automation_disabled: { icon: 'warn', label: 'Automation disabled', noun: 'warning' },
  plan_staged: { icon: 'approve', label: 'Plan staged', noun: 'plan' },
  plan_reminder: { icon: 'clock', label: 'Plan reminder', noun: 'reminder' },
  change_requested: { icon: 'approve', label: 'Change request', noun: 'change request' },
  change_reminder: { icon: 'clock', label: 'Reminder of a change request', noun: 'reminder' },
  change_ended: { icon: 'check', label: 'Change request', noun: 'result' },
  member_added: { icon: 'team', label: 'Added to a team', noun: 'welcome' },
  assigned: { icon: 'person', label: 'Assigned to you', noun: 'assignment' },
  imported: { icon: 'person', label: 'Imported', noun: 'import' },
  mentioned: { icon: 'talk', label: 'Mention', noun: 'mention' },
  commented: { icon: 'talk', label: 'Comment', noun: 'comment' },
  status_changed: { icon: 'check', label: 'Status', noun: 'status change' },
  run_ended: { icon: 'warn', label: 'Run ended', noun: 'ended run' },
  project_updated: { icon: 'board', label: 'Project update', noun: 'update' },
};
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Says what a row folds: "3 more: 2 comments, 1 assignment", in the order of the newest of each kind. */
export function wordFolded(others: readonly Notification[]): string {
  const byNoun = new Map<string, number>();
  for (const { kind, more } of others) byNoun.set(NOTICE_KINDS[kind].noun, (byNoun.get(NOTICE_KINDS[kind].noun) ?? 0) + 1 + more);
  const [one, ...rest] = [...byNoun].map(([noun, count]) => counted(count, noun));
  const total = [...byNoun.values()].reduce((sum, count) => sum + count, 0);
  return rest.length === 0 ? `${one?.replace(' ', ' more ')}` : `${total} more: ${[one, ...rest].join(', ')}`;
}

/** Says what a notification stands for besides itself: "57 more assignments". */
export const wordMore = ({ kind, more }: Notification): string => counted(more, NOTICE_KINDS[kind].noun).replace(' ', ' more ');
