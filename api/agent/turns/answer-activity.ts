import { Temporal } from 'temporal-polyfill';
import { activityBetween, type ActivityLine } from '../../work/activity-feed/activity-between.js';
import { MAX_LINES } from '../../work/activity-feed/activity-between.sql.js';
import type { Context } from '../../platform/context.js';
import type { DateRange } from '../../platform/written-ranges.js';
import { recentDays } from '../grammar/asking/past-range.js';
import type { ActivityKind } from '../grammar/clauses.js';
import type { Asked } from '../grammar/outcome.js';
import type { PeopleIndex } from '../grammar/people.js';
import { quote } from '../grammar/doubts/naming.js';
import { onlyAssignees } from '../grammar/subjects.js';
import { STATUS_WORDS } from '../grammar/terms.js';
import { plural } from './answer-words.js';
import type { Mentioned } from './end-turn.js';
import type { RuleWorld } from '../grammar/subjects.js';

type AskedActivity = Extract<Asked, { does: 'activity' }>;

/** Lines that an answer shows, and those that it counts. */
const MAX_SHOWN = 20;
const MAX_COUNTED = 200;
/** Lines of one item among which the newest change of a kind is looked for. */
const MAX_OF_ITEM = 200;
const ITEMS = new Set(['task', 'project', 'note', 'file', 'whiteboard', 'doc']);
/** Before everything that is kept. */
const EVER = '2000-01-01';

/** A text with the items that it names. */
interface Worded {
  content: string;
  mentions: Mentioned[];
}

const startOf = (day: string, zone: string): number => Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds;
/** The moments of days, of which the last is included, in a zone. */
export const momentsOf = ({ from = EVER, to }: DateRange, zone: string): { from: number; to: number } => ({
  from: startOf(from, zone),
  to: to === undefined ? Date.now() + 1 : startOf(Temporal.PlainDate.from(to).add({ days: 1 }).toString(), zone),
});

const dayWords = (day: string): string =>
  new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );

/** Days in words: `since Monday, 23 November 2026`. */
export function daysWords({ from, to }: DateRange): string {
  if (from === undefined) return to === undefined ? 'so far' : `until ${dayWords(to)}`;
  if (from === to) return `on ${dayWords(from)}`;
  return to === undefined ? `since ${dayWords(from)}` : `from ${dayWords(from)} to ${dayWords(to)}`;
}

/** Clock and day of lines in a zone; the day only where an answer is about several. */
function clockOf(zone: string, isOneDay: boolean): (at: Date) => string {
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone } as const;
  const format = new Intl.DateTimeFormat(
    'en-GB',
    isOneDay ? time : { ...time, weekday: 'short', day: 'numeric', month: 'short' },
  );
  return (at) => format.format(at);
}

const valueWords = (field: string, value: string | number | boolean | readonly string[] | null): string => {
  if (value === null) return 'none';
  const text = String(value);
  if (field === 'status') return STATUS_WORDS[text] ?? text;
  return field.endsWith('_date') ? text.slice(0, 10) : text;
};

/** Fields whose values a line shows. */
const WITH_VALUES = new Set(['status', 'priority', 'due_date', 'estimate', 'estimated_hours']);

/** What a line did: `changed status from to do to done, assignee`. */
function changeWords({ summary, changes }: ActivityLine): string {
  if (!/^changed [a-z_, ]+$/.test(summary)) return summary;
  const fields = summary.slice('changed '.length).split(', ');
  const parts = fields
    .filter((field) => field !== 'completed_at' || !fields.includes('status'))
    .map((field) => {
      const name = field === 'assigned_to' ? 'assignee' : field.replaceAll(/_id\b/g, '').replaceAll('_', ' ');
      const change = WITH_VALUES.has(field) ? changes?.[field] : undefined;
      return change ? `${name} from ${valueWords(field, change.from)} to ${valueWords(field, change.to)}` : name;
    });
  return `changed ${parts.join(', ')}`;
}

const byWords: Readonly<Partial<Record<ActivityLine['actor_type'], string>>> = {
  automation: ' (by an automation)',
  agent: ' (by a confirmed plan)',
};
const doerOf = ({ user_name, user_id, actor_type, automation }: ActivityLine): string => {
  const by = automation === null ? byWords[actor_type] : ` (by the automation ${quote(automation)})`;
  return `${user_name ?? (user_id === null ? 'Assent' : 'a former user')}${by ?? ''}`;
};

const mentionOf = ({ entity_type, entity_id, entity_title }: ActivityLine): Mentioned[] =>
  entity_title !== null && ITEMS.has(entity_type) ? [{ item_id: entity_id, title: entity_title }] : [];

/** Which lines are changes of a kind. */
const IS_KIND: Readonly<Record<ActivityKind, (line: ActivityLine) => boolean>> = {
  closed: ({ changes }) => changes?.['status']?.to === 'done',
  reopened: ({ changes }) => changes?.['status']?.from === 'done',
  created: ({ action }) => action === 'create',
  assigned: ({ changes }) => changes?.['assigned_to'] !== undefined,
  moved: ({ changes }) => changes?.['status'] !== undefined || changes?.['stage_id'] !== undefined,
  changed: () => true,
};

/** The newest change of a kind to one item: who made it, and when. */
async function answerKind(ctx: Context, { asked, of }: AskedActivity, zone: string): Promise<Worded> {
  const { id, title, type } = of as NonNullable<AskedActivity['of']>;
  const what = asked.what as ActivityKind;
  const filter = { teamIds: null, entityId: id, ...momentsOf({}, zone) };
  const { lines } = await activityBetween(ctx, filter, MAX_OF_ITEM);
  const line = lines.find((each) => each.entity_type === type && IS_KIND[what](each));
  const mentions = [{ item_id: id, title }];
  if (!line) return { content: `The activity does not tell that ${quote(title)} was ${what}.`, mentions };
  const at = clockOf(zone, false)(line.timestamp);
  const verb = what === 'closed' || what === 'reopened' || what === 'created' ? what : `${changeWords(line)} of`;
  return { content: `${doerOf(line)} ${verb} ${quote(title)} on ${at}.`, mentions };
}

/** Who or what a list is about: `by Mia Chen`, `in the project “Harbor”`. */
function aboutWords({ asked: { who, by: machine }, of }: AskedActivity, people: PeopleIndex): string {
  const person = who?.kind === 'me' ? ' by you' : who?.kind === 'name' ? ` by ${people.shown(who.name)}` : '';
  const by =
    machine === undefined ? person : { automation: ' by automations', agent: ' by confirmed plans of the agent' }[machine];
  return of ? `${by} ${of.type === 'project' ? 'in' : 'to'} the ${of.type} ${quote(of.title)}` : by;
}

/**
 * Answers what was done, from the activity feed of the user's teams: newest first, with times in the user's zone.
 * @param teamIds teams that the session is about; null for all of the user's
 * @param most lines that it shows
 * @throws Question no member has the name, or several
 */
export async function answerActivity(
  ctx: Context,
  question: AskedActivity,
  world: Pick<RuleWorld, 'people' | 'userId' | 'today'>,
  { teamIds, zone, most = MAX_SHOWN }: { teamIds: readonly string[] | null; zone: string; most?: number },
): Promise<Worded> {
  const { asked, of } = question;
  if (asked.what && of) return answerKind(ctx, question, zone);
  const [userId = null] = asked.who ? onlyAssignees(world, asked.who) : [];
  const isOfItem = of !== null && of.type !== 'project';
  const days = asked.days ?? (isOfItem ? {} : recentDays(world.today));
  const place = of === null ? { teamIds } : { teamIds: null, ...(isOfItem ? { entityId: of.id } : { projectId: of.id }) };
  const { lines, isCut } = await activityBetween(
    ctx,
    { ...place, userId, actorType: asked.by ?? null, ...momentsOf(days, zone) },
    MAX_COUNTED + 1,
  );
  const about = `${aboutWords(question, world.people)} ${daysWords(days)}`;
  const cut = isCut ? `\n\nI looked at the newest ${MAX_LINES.toLocaleString('en')} changes of that time only.` : '';
  const named = of ? [{ item_id: of.id, title: of.title }] : [];
  if (lines.length === 0) return { content: `I know of no change${about} (${zone}).${cut}`, mentions: named };
  const clock = clockOf(zone, days.from !== undefined && days.from === days.to);
  const shown = lines.slice(0, most);
  const count = lines.length > MAX_COUNTED ? `More than ${MAX_COUNTED} changes` : plural(lines.length, 'change', 'changes');
  const rows = shown.map(
    (line) =>
      `- ${clock(line.timestamp)} ${doerOf(line)} ${changeWords(line)}${line.entity_title === null ? '' : `: ${quote(line.entity_title)}`}`,
  );
  const more = lines.length > most ? [`- and ${Math.min(lines.length, MAX_COUNTED) - most} more`] : [];
  return {
    content: [`${count}${about} (${zone}):`, ...rows, ...more].join('\n') + cut,
    mentions: [...named, ...shown.flatMap(mentionOf)],
  };
}
