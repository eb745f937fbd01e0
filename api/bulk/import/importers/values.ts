import { createHash } from 'node:crypto';
import { normaliseDate } from '../../../platform/dates.js';
import { MAIL_ADDRESS } from '../../../platform/fields.js';
import type { StatusChoice, TaskPriority } from '../../../work/tasks/rules.js';
import type { ImportRecord } from './record.js';

/**
 * Returns the id of a record of a foreign system: the same for the same team, format, kind and key. So a second import of a file finds what the
 * first one created.
 */
export function stableId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(parts.join('\n')).digest('hex');
  // The form of a UUID of version 8, which leaves its bits to the application (RFC 9562).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Ids of the parts of one record, which sort in the order of their numbers: a list sorts what has the same time by its id. */
export function stablePartId(nth: number, ...parts: readonly string[]): string {
  const whole = stableId(...parts);
  const part = stableId(...parts, String(nth));
  return `${whole.slice(0, 8)}-${Math.min(nth, 0xffff).toString(16).padStart(4, '0')}${part.slice(13)}`;
}

const STATUS_WORDS: readonly (readonly [StatusChoice, RegExp])[] = [
  ['done', /^(done|closed|resolved|completed?|released|shipped|merged|archived)$/],
  ['canceled', /^(cancell?ed|won['’]?t (do|fix)|not planned)$/],
  ['duplicate', /^duplicate$/],
  ['in_review', /review|qa\b|testing|verif|approval/],
  ['in_progress', /progress|started|doing|develop|active|working|implement|blocked/],
  ['todo', /^(to ?do|open|backlog|triage|new|unstarted|reopened|ready.*|selected.*|planned|next)$/],
];

/** Returns the status that a foreign one amounts to, or the reason why nobody completed the issue; undefined for an unknown word. */
export function getStatus(word: string): StatusChoice | undefined {
  const name = word.trim().toLowerCase().replace(/[_-]+/g, ' ').slice(0, 100);
  return STATUS_WORDS.find(([, pattern]) => pattern.test(name))?.[0];
}

const PRIORITIES: Readonly<Record<string, TaskPriority>> = {
  urgent: 'urgent',
  highest: 'urgent',
  blocker: 'urgent',
  critical: 'urgent',
  p0: 'urgent',
  high: 'high',
  major: 'high',
  p1: 'high',
  medium: 'medium',
  normal: 'medium',
  p2: 'medium',
  none: 'none',
  'no priority': 'none',
  low: 'low',
  lowest: 'low',
  minor: 'low',
  trivial: 'low',
  p3: 'low',
};

/** Returns the priority that a foreign one amounts to; undefined for an unknown word. */
export function parsePriority(word: string): TaskPriority | undefined {
  const name = word.trim().toLowerCase();
  return Object.hasOwn(PRIORITIES, name) ? PRIORITIES[name] : undefined;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** Such as `12/Mar/26 3:45 PM` or `12/Mar/2026`, as Jira writes dates in English. */
const JIRA_DATE = /^(\d{1,2})[/-]([a-z]{3})[a-z]*[/-](\d{2}|\d{4})\b/i;

/** Returns a day of ISO 8601 from its parts; undefined without a name of a month. */
function toDay(year: string, name: string, day: string): string | undefined {
  const month = MONTHS.indexOf(name.toLowerCase()) + 1;
  return month === 0 ? undefined : `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** Such as `Wed May 13 2026 11:21:41 GMT+0200 (CEST)`, as JavaScript writes times, and exports of Linear with it. */
const SCRIPT_DATE = /^[a-z]{3} ([a-z]{3}) (\d{1,2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{2})(\d{2})\b/i;

/** Returns a time of ISO 8601, also with a space before its hours, or of JavaScript as ISO 8601; null for any other form. */
function toIso(text: string): string | null {
  const [, name = '', day = '', year = '', time, hours, minutes] = SCRIPT_DATE.exec(text.trim()) ?? [];
  const whole = toDay(year, name, day);
  if (whole === undefined) return normaliseDate(text.trim().replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T'));
  return normaliseDate(`${whole}T${time}${hours}:${minutes}`);
}

/** Returns the day of a date of Jira, Linear or GitHub: ISO 8601, or with the name of the month. Undefined for any other form. */
export function parseDay(text: string): string | undefined {
  const iso = toIso(text);
  if (iso !== null) return iso.slice(0, 10);
  const [, day = '', name = '', year = ''] = JIRA_DATE.exec(text.trim()) ?? [];
  const whole = toDay(year.length === 2 ? `20${year}` : year, name, day);
  return whole === undefined || normaliseDate(whole) === null ? undefined : whole;
}

/** Such as the rest of `12/Mar/26 3:45 PM`. */
const JIRA_TIME = /\b(\d{1,2}):(\d{2})(?::\d{2})?(?:\s*([ap])m)?\s*$/i;

/** Returns the time of a cell as ISO 8601, where it says no zone in UTC; null for none, or for an unknown form. */
export function parseMoment(text = ''): string | null {
  const iso = toIso(text);
  if (iso !== null) return iso;
  const day = parseDay(text);
  if (day === undefined) return null;
  const [, hour = '0', minute = '00', half] = JIRA_TIME.exec(text) ?? [];
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return normaliseDate(`${day}T${String(hours).padStart(2, '0')}:${minute}:00Z`) ?? day;
}

const MAX_TITLE = 200;
const MAX_DESCRIPTION = 2_000;
const MAX_COMMENT = 10_000;
const MAX_TAGS = 20;
const MAX_TAG = 50;
/** Labels of one issue that are looked at. */
const MAX_LABELS = 1_000;

/** Cuts text to a number of code points. */
const cut = (text: string, max: number): string => {
  const points = Array.from(text.slice(0, max * 2));
  return points.length > max || text.length > max * 2 ? `${points.slice(0, max - 1).join('')}…` : text;
};

/** Removes what PostgreSQL cannot store. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

export const getTitle = (text: string): string => cut(storable(text).replace(/\s+/g, ' ').trim(), MAX_TITLE);

/** Returns labels as tags: without duplicates, each within its length. `dropped`: how many there are too many. */
export function toTags(labels: readonly string[]): { tags: string[]; dropped: number } {
  const first = labels.slice(0, MAX_LABELS);
  const tags = [...new Set(first.map((label) => cut(storable(label).trim(), MAX_TAG)).filter((label) => label !== ''))];
  const dropped = Math.max(0, tags.length - MAX_TAGS) + labels.length - first.length;
  return { tags: tags.slice(0, MAX_TAGS), dropped };
}

/** Pieces of a long text, each no longer than a comment may be. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    let to = Math.min(text.length, at + MAX_COMMENT / 2);
    // Not between the halves of a surrogate pair.
    if (to < text.length && text.charCodeAt(to - 1) >= 0xd800 && text.charCodeAt(to - 1) < 0xdc00) to -= 1;
    found.push(text.slice(at, to));
    at = to;
  }
  return found;
}

/** Comments of one foreign issue, with ids of their own. */
export class Comments {
  private readonly list: ImportRecord[] = [];

  constructor(
    private readonly taskId: string,
    private readonly getId: (nth: number) => string,
  ) {}

  /** Adds a text, as several comments if it is longer than one may be. A blank one is left out. */
  add(text: string): void {
    const whole = storable(text);
    if (whole.trim() === '') return;
    for (const content of pieces(whole)) {
      if (content.trim() === '') continue;
      this.list.push({ entity: 'comment', comment_id: this.getId(this.list.length), task_id: this.taskId, content });
    }
  }

  get records(): ImportRecord[] {
    return this.list;
  }
}

/**
 * Returns a description within its length, with where it came from. A longer one is cut, and `rest` is the whole text, for comments.
 */
export function toDescription(text: string, origin: string): { description: string; rest: string | undefined } {
  const whole = storable(text).trim();
  const foot = `${whole === '' ? '' : '\n\n'}${origin}`;
  const room = MAX_DESCRIPTION - Array.from(foot).length;
  const short = cut(whole, room);
  return { description: `${short}${foot}`, rest: short === whole ? undefined : whole };
}

const MAX_ADDRESS = 254;

/** Returns the name of an assignee as an email address, in lower case; null if it is none. */
export function toAddress(name: string): string | null {
  const address = name.trim().toLowerCase();
  return address.length <= MAX_ADDRESS && address.isWellFormed() && MAIL_ADDRESS.test(address) ? address : null;
}
