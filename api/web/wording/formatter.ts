import { catalogue } from '../../actions/registry.js';
import type { User } from '../../auth/schema.js';
import { TRIGGER_TEXT } from './trigger-text.js';
import { describeApprovers, cannotDecideReason } from './approver-text.js';

/** What to do about a failure, by error code. Codes without general advice are absent. */
const HELP: Readonly<Record<string, string>> = {
  connection_not_consented: 'The automation’s creator must save its actions again. Then replay the run.',
  secret_host_refused: 'Ask a team admin to allow the host for the secret, or change the URL. Then replay the run.',
  secret_missing: 'Store it with POST /api/automations/secrets and the host in allowed_hosts. Then replay the run.',
  secret_not_authorized:
    'Ask a team admin to save the automation again, or to store the secret with allowed hosts. Then replay the run.',
};

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** "2 h 5 min" from seconds: the two largest units that count. */
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

const ACTION_LABELS = new Map<string, string>(catalogue().map(({ type, label }) => [type, label]));

/** Whether this runtime knows a time zone or a language: an older one may not know what a newer one stored. */
function isKnown(locale: string, timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0 && Boolean(new Intl.DateTimeFormat(locale, { timeZone }));
  } catch {
    return false;
  }
}

const zoneOf = (me: User | null): string => {
  const wanted = me?.preferences.timezone ?? 'UTC';
  return isKnown('en', wanted) ? wanted : 'UTC';
};

/** What dates are written in: the person's own choice; where there is none, day before month, which nobody misreads. */
const localeOf = (me: User | null): string => {
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

/** "Firefox on Linux", from what the browser said of itself; it may say anything. */
function deviceName(userAgent: string | null): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((known) => known.find(([sign]) => sign.test(userAgent ?? ''))?.[1]);
  if (browser) return system ? `${browser} on ${system}` : browser;
  return userAgent ? userAgent.slice(0, 60) : 'Unknown client';
}

/** How people read what the API names in code words, and times in their own zone. */
export function createFormatter(me: User | null, now: Date = new Date()) {
  const timeZone = zoneOf(me);
  const locale = localeOf(me);
  const long = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'short' });
  const exact = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'medium' });
  const clock = new Intl.DateTimeFormat(locale, { timeZone, timeStyle: 'medium' });
  const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const day = new Intl.DateTimeFormat(locale, { timeZone, day: 'numeric', month: 'short' });
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return {
    timeZone,
    duration,
    device: deviceName,
    deciders: describeApprovers,
    notYours: (gate: Parameters<typeof cannotDecideReason>[1]): string => cannotDecideReason(me, gate),
    /** "20 Nov 2026, 17:51". */
    moment: (iso: string): string => long.format(new Date(iso)),
    /** To the second: "17:51:02", and with the day where it is another one than that of `since`. */
    clock: (iso: string, since?: string): string => {
      const at = new Date(iso);
      const isSameDay = since !== undefined && dayIn.format(at) === dayIn.format(new Date(since));
      return (isSameDay ? clock : exact).format(at);
    },
    /** "20 Nov"; of a date without a time, the same day everywhere. */
    day: (iso: string): string =>
      iso.length === 10
        ? new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'short' }).format(new Date(iso))
        : day.format(new Date(iso)),
    /** "5 minutes ago", "in 2 days", "just now". */
    relative(iso: string): string {
      const seconds = Math.round((new Date(iso).getTime() - now.getTime()) / 1000);
      const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? [];
      return unit && size ? relative.format(Math.trunc(seconds / size), unit) : 'just now';
    },
    /** True when a due day or moment lies behind; a day is over when it has ended where the person is. */
    isPast: (due: string): boolean => (due.length === 10 ? due < dayIn.format(now) : new Date(due).getTime() < now.getTime()),
    /** Seconds from now; negative when past. */
    secondsUntil: (iso: string): number => (new Date(iso).getTime() - now.getTime()) / 1000,
    /** Returns what started a run; `who` names the user of a manual start. */
    triggerText: (trigger: string, who?: string): string =>
      trigger === 'manual' && who !== undefined
        ? `Started manually by ${who === 'You' ? 'you' : who}`
        : (TRIGGER_TEXT[trigger] ?? trigger),
    help: (code: string): string | undefined => HELP[code],
    action: (type: string): string => ACTION_LABELS.get(type) ?? type,
    /** "AM" for Ada Marsh. */
    initials: (name: string): string =>
      name
        .split(/\s+/u)
        .map((part) => String.fromCodePoint(part.codePointAt(0) ?? 32))
        .filter((letter) => /\p{L}|\p{N}/u.test(letter))
        .slice(0, 2)
        .join('')
        .toUpperCase() || '·',
    plural: (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`,
  };
}
