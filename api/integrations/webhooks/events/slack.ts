import { ENTITY_PAGES, findPagePath } from '../../../platform/changes/entity-pages.js';
import { type Config, webAddress } from '../../../platform/config.js';
import { DELIVERED_EVENTS } from './samples.js';

/** What an endpoint receives: the event, or a line about it that Slack, Mattermost and other chat rooms show. */
export const WEBHOOK_FORMATS = ['json', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** A choice says "changed in any way", a line what happened. */
const PAST: ReadonlyMap<string, string> = new Map(
  DELIVERED_EVENTS.map(([name, past]) => [name, past.replace(' in any way', '')]),
);
/** In code points. */
const MAX_TEXT = 300;
/** Fields whose change a line tells: the others are ids or long texts. */
const SHOWN = ['status', 'resolution', 'priority', 'due_date', 'title', 'name'];
/** What is shown on the page of another entity. */
const PART_OF: ReadonlyMap<string, 'task' | 'project'> = new Map([
  ['comment', 'task'],
  ['project_update', 'project'],
]);
/** Slack reads three characters as syntax; escaped, no text can name a channel or a person, or open a link. */
const escapeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('|', '¦')
    // Mattermost reads names of people and Markdown: a space without width breaks both.
    .replaceAll('@', '@\u200b')
    .replaceAll('](', ']\u200b(');

/** Returns a value as one escaped line; undefined for what is no text. */
function word(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const line = value
    .slice(0, 4 * MAX_TEXT)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const points = Array.from(line);
  const cut = points.length > MAX_TEXT ? `${points.slice(0, MAX_TEXT).join('')}…` : line;
  return cut === '' ? undefined : escapeText(cut);
}

const wordChanges = (changes: Fields): string[] =>
  SHOWN.flatMap((field) => {
    const { from, to } = (changes[field] ?? {}) as { from?: unknown; to?: unknown };
    if (from === undefined || to === undefined) return [];
    const [was, is] = [from, to].map((value) => word(value)?.replaceAll('_', ' ') ?? 'none');
    return [`${field.replaceAll('_', ' ')}: ${was} → ${is}`];
  });

/** Words the change of a custom field by its name, which its event has beside the values. */
function wordField({ field, changes }: Fields): string[] {
  const name = word((field as Fields | undefined)?.['name']);
  const { from, to } = ((changes as Fields | undefined)?.['text'] ?? {}) as { from?: unknown; to?: unknown };
  return name === undefined ? [] : [`${name}: ${word(from) ?? 'none'} → ${word(to) ?? 'none'}`];
}

/** Returns where people see the entity of an event: a page of this installation, or that of the code host. */
function linkOf(config: Config, { entity_type, entity_id, object }: Fields): string | undefined {
  const url = (object as Fields | null)?.['url'];
  if (typeof url === 'string' && /^https?:\/\/[^\s|<>]+$/.test(url)) return url;
  const whole = PART_OF.get(String(entity_type));
  const of = whole && { page: ENTITY_PAGES[whole], id: (object as Fields | null)?.[`${whole}_id`] };
  const { page, id } = of ?? { page: findPagePath(String(entity_type)), id: entity_id };
  return page !== undefined && typeof id === 'string' ? webAddress(config, `${page}${encodeURIComponent(id)}`) : undefined;
}

/**
 * Returns the body that a chat room receives of an event: `{"text": "*A task was completed*: <https://…|Fix the crane> (status: in review → done)"}`.
 * @param body the event as an endpoint for JSON receives it
 */
export function toSlack(config: Config, body: string): string {
  const { type, data } = JSON.parse(body) as { type: string; data: Fields };
  const object = (data['object'] ?? {}) as Fields;
  const title = ['title', 'name', 'automation_name', 'description', 'repo'].map((field) => word(object[field])).find(Boolean);
  const health = word(object['health'])?.replaceAll('_', ' ');
  const said = ['message', 'content'].map((field) => word(object[field])).find(Boolean);
  const link = linkOf(config, data);
  const about = link ? `<${link.replaceAll('&', '&amp;')}|${title ?? health ?? 'Open'}>` : title;
  const changes = [...wordField(data), ...wordChanges((data['changes'] ?? {}) as Fields)];
  const head = `*${escapeText(PAST.get(type) ?? type)}*${about ? `: ${about}` : ''}`;
  return JSON.stringify({
    text: `${head}${changes.length > 0 ? ` (${changes.join(', ')})` : ''}${said ? `\n> ${said}` : ''}`,
    unfurl_links: false,
  });
}

/** Returns the exact text that an endpoint receives of an event. */
export const bodyFor = (config: Config, format: WebhookFormat, body: string): string =>
  format === 'slack' ? toSlack(config, body) : body;
