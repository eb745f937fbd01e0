import { branchName } from './branch-name.js';
import { availableActions } from '../../automation/actions/registry.js';
import type { User } from '../../identity/auth/schema.js';
import { plainText } from '../../platform/plain-text.js';
import { howOften, ruleInWords } from '../../work/tasks/recurrence/describe-rule.js';
import { formatPriority, formatStatus, getChoice, type TaskResolution, type TaskStatus } from '../../work/tasks/rules.js';
import { TRIGGER_TEXT } from '../../automation/language/triggers.js';
import type { ActivityChanges } from '../../work/activity-feed/schema.js';
import { changesText, summaryText } from './change-text.js';
import { needsFieldName, sayFieldValue } from './field-value.js';
import { estimatesText } from './estimate-text.js';
import { addsToQuestion, itemIn, wordQuestion } from './question.js';
import { wordRisk } from './risk.js';
import { describeApprovers, describeShortage, wordNotYours, wordOwnPart } from './approver-text.js';

/** Advice for a failure, by error code, where there is a general one. */
const HELP: Readonly<Record<string, string>> = {
  connection_not_consented: 'The automation’s creator must save its actions again. Then replay the run.',
  secret_host_refused: 'Ask a team admin to allow the host for the secret, or change the URL. Then replay the run.',
  secret_missing: 'Ask a team admin to store the secret with its allowed hosts. Then press Replay failed actions on this page.',
  secret_not_authorized:
    'Ask a team admin to save the automation again, or to store the secret with allowed hosts. Then replay the run.',
};

const BULK_FORMATS: Readonly<Record<string, string>> = {
  ndjson: 'NDJSON',
  json: 'JSON',
  csv: 'CSV',
  jira_csv: 'Jira CSV',
  linear_csv: 'Linear CSV',
  github_json: 'GitHub JSON',
};

const bulkFormat = (format: string): string => BULK_FORMATS[format] ?? format;

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Formats seconds as "2 h 5 min", with the two largest units. */
function duration(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** How the health of a project looks, as a class of its chip or bar. */
const HEALTH_LOOKS: Readonly<Record<string, string>> = { on_track: 'good', at_risk: 'soon', off_track: 'late' };

const ACTION_LABELS = new Map<string, string>(availableActions().map(({ type, label }) => [type, label]));

/** Returns whether this runtime supports a time zone and locale; a newer one may have stored them. */
function isKnown(locale: string, timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0 && Boolean(new Intl.DateTimeFormat(locale, { timeZone }));
  } catch {
    return false;
  }
}

const getTimeZone = (me: User | null): string => {
  const wanted = me?.preferences.timezone ?? 'UTC';
  return isKnown('en', wanted) ? wanted : 'UTC';
};

/** Returns the user's locale; by default day before month, which is unambiguous. */
const getLocale = (me: User | null): string => {
  const wanted = me?.preferences.locale ?? 'en';
  return wanted !== 'en' && isKnown(wanted, 'UTC') ? wanted : 'en-GB';
};

const BROWSERS = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const;
const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

/** Returns "Firefox on Linux" from a user agent, which is untrusted. */
function deviceName(userAgent: string | null): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([sign]) => sign.test(userAgent ?? ''))?.[1]);
  if (browser) return system ? `${browser} on ${system}` : browser;
  return userAgent ? userAgent.slice(0, 60) : 'Unknown client';
}

const megabytes = new Intl.NumberFormat('en', { style: 'unit', unit: 'megabyte', maximumSignificantDigits: 3 });

/** Size of a file: "2.14 MB", "12 kB", "1 byte". */
function formatSize(size: number): string {
  if (size >= 1_000_000) return megabytes.format(size / 1_000_000);
  if (size >= 1_000) return `${Math.round(size / 1_000)} kB`;
  return `${size} ${size === 1 ? 'byte' : 'bytes'}`;
}

interface Numbered {
  team_id: string;
  number: number | null;
}
/** Returns what converts a task to what people call it: "HAR-12"; empty for one of no team of the user, and before it has a number. */
function buildTaskNames(me: User | null) {
  const keys = new Map(me?.teams.map(({ team_id, key }) => [team_id, key]));
  return ({ team_id, number }: Numbered): string =>
    keys.has(team_id) && number !== null ? `${keys.get(team_id)}-${number}` : '';
}

/** "AM" for Ada Marsh. */
const initials = (name: string): string =>
  name
    .split(/\s+/u)
    .map((part) => String.fromCodePoint(part.codePointAt(0) ?? 32))
    .filter((letter) => /\p{L}|\p{N}/u.test(letter))
    .slice(0, 2)
    .join('')
    .toUpperCase() || '·';

const HUES = 8;
/** The class that colours the initials of a user, the same on each page; the last digit of an id is random. */
const hue = (userId: string): string => `hue-${Number.parseInt(userId.slice(-1), 16) % HUES}`;

interface Placed {
  status: TaskStatus;
  resolution: TaskResolution | null;
  stage_id: string | null;
}
/** Where a task is, as its team says it: the name of its stage, else "In review" or "Canceled". */
const formatPlace = (task: Placed, stages: readonly { stage_id: string; name: string }[] = []): string =>
  stages.find(({ stage_id }) => stage_id === task.stage_id)?.name ?? formatStatus(getChoice(task));

/** What is the same for every reader. */
const COMMON = {
  formatStatus,
  priority: formatPriority,
  /** The status of a task as people choose it: `canceled` of one that nobody completed. */
  choice: getChoice,
  formatPlace,
  /** "weekly" of a recurrence, and its rule in full. */
  howOften,
  rule: ruleInWords,
  formatSize,
  duration,
  plainText,
  estimates: estimatesText,
  device: deviceName,
  approvers: describeApprovers,
  shortage: describeShortage,
  ownPart: wordOwnPart,
  /** "medium risk: gives work to another user". */
  risk: wordRisk,
  initials,
  hue,
  fieldValue: sayFieldValue,
  needsFieldName,
  healthLook: (health: string | null): string => HEALTH_LOOKS[health ?? ''] ?? '',
  help: (code: string): string | undefined => HELP[code],
  action: (type: string): string => ACTION_LABELS.get(type) ?? type,
  plural: (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`,
  /** How long a run took: "2 min", "less than a second". */
  took: (ms: number): string => (ms < 1000 ? 'less than a second' : duration(ms / 1000)),
  bulkFormat,
  /** "Import from Linear CSV", "Export to NDJSON". */
  bulkTitle: ({ kind, format }: { kind: string; format: string }): string =>
    `${kind === 'export' ? 'Export to' : 'Import from'} ${bulkFormat(format)}`,
};

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** A day, or a moment in UTC, as programs write it. */
const ISO_DATE = /\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z)?(?![\w-])/g;

/** Returns a text of a program, whose dates read as those of the pages. */
const writeDates = (text: string, formatDay: (iso: string) => string, long: Intl.DateTimeFormat): string =>
  text.replaceAll(ISO_DATE, (iso) => {
    if (Number.isNaN(Date.parse(iso))) return iso;
    return iso.length === 10 ? formatDay(iso) : long.format(new Date(iso));
  });

function ageOf(iso: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - new Date(iso).getTime()) / 60_000);
  if (minutes < 60) return minutes < 1 ? 'now' : `${minutes} min`;
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} d`;
}

/** Creates the formatter of code words and times, in the user's locale and time zone. */
export function createFormatter(me: User | null, now: Date = new Date()) {
  const timeZone = getTimeZone(me);
  const locale = getLocale(me);
  const long = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'short' });
  const exact = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  const clock = new Intl.DateTimeFormat(locale, { timeZone, timeStyle: 'medium' });
  const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const day = new Intl.DateTimeFormat(locale, { timeZone, day: 'numeric', month: 'short' });
  const date = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' });
  const formatDay = (iso: string): string => (iso.length === 10 ? date : day).format(new Date(iso));
  const month = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month: 'short' });
  const weekday = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', weekday: 'short' });
  const nameOf = buildTaskNames(me);
  return {
    ...COMMON,
    timeZone,
    taskName: nameOf,
    branchName,
    /** The name of the task to whose page a line leads; empty if it leads elsewhere. */
    called: (href: string | null, numbers: Readonly<Record<string, Numbered>> = {}): string => {
      const task = numbers[itemIn(href) ?? ''];
      return task ? nameOf(task) : '';
    },
    /** The day in the user's time zone: "2026-11-20". */
    today: dayIn.format(now),
    /** What a line of activity tells, with short values: "changed status from In review to Done, cycle". */
    buildSummary: (line: Parameters<typeof summaryText>[0], names: Record<string, string>): string =>
      summaryText(line, names, { formatStatus, day: formatDay }),
    /** The same of changes alone: "priority from urgent to low". */
    changesText: (changes: ActivityChanges, names: Record<string, string>): string =>
      changesText(changes, names, { formatStatus, day: formatDay }),
    /** What a decision would change, in one line. */
    adds: addsToQuestion,
    question: (lines: Parameters<typeof wordQuestion>[0] = []) => wordQuestion(lines, formatStatus),
    notYours: (waiting: Parameters<typeof wordNotYours>[1]): string => wordNotYours(me, waiting),
    /** "20 Nov 2026, 17:51". */
    moment: (iso: string): string => long.format(new Date(iso)),
    /** To the second: "17:51:02", with the day if it differs from that of `since`. */
    clock: (iso: string, since?: string): string => {
      const at = new Date(iso);
      const isSameDay = since !== undefined && dayIn.format(at) === dayIn.format(new Date(since));
      return (isSameDay ? clock : exact).format(at);
    },
    /** "Fri 20 Nov", of another year "Wed 1 May 2030": a date without time, where a slip should be seen. */
    namedDay: (iso: string): string => {
      const year = iso.slice(0, 4);
      return [weekday.format(new Date(iso)), formatDay(iso), ...(year === dayIn.format(now).slice(0, 4) ? [] : [year])].join(' ');
    },
    dated: (text: string): string => writeDates(text, formatDay, long),
    /** "20 Nov"; a date without time is the same day in every zone. */
    day: formatDay,
    /** The month of a day: "Nov"; January names its year instead. */
    month: (iso: string): string => (iso.slice(5, 7) === '01' ? iso.slice(0, 4) : month.format(new Date(iso))),
    /** "5 minutes ago", "in 2 days", "just now". */
    relative(iso: string): string {
      const seconds = Math.round((new Date(iso).getTime() - now.getTime()) / 1000);
      const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? [];
      return unit && size ? relative.format(Math.trunc(seconds / size), unit) : 'just now';
    },
    /** How old something is, where little room is: "now", "5 min", "3 h", "12 d". */
    age: (iso: string): string => ageOf(iso, now),
    /** The day on which a date or time is due, in the user's time zone: "2026-11-20". */
    dueDay: (due: string): string => (due.length === 10 ? due : dayIn.format(new Date(due))),
    /** Returns whether a due date or time has passed; a day ends in the user's time zone. */
    isPast: (due: string): boolean => (due.length === 10 ? due < dayIn.format(now) : new Date(due).getTime() < now.getTime()),
    /** Days from today in the user's time zone to a day; negative if past. */
    daysUntil: (day: string): number => (Date.parse(day) - Date.parse(dayIn.format(now))) / 86_400_000,
    /** Seconds from now; negative if past. */
    secondsUntil: (iso: string): number => (new Date(iso).getTime() - now.getTime()) / 1000,
    /** Returns what triggered a run; `who`: name of the user, for manual starts. */
    triggerText: (trigger: string, who?: string): string =>
      trigger === 'manual' && who !== undefined
        ? `Started manually by ${who === 'You' ? 'you' : who}`
        : (TRIGGER_TEXT[trigger] ?? trigger),
  };
}
