import { parseRule, type Recurrence } from './rules.js';

const UNITS = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' } as const;
const DAYS: Readonly<Record<string, string>> = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
};
const ENDINGS = { one: 'st', two: 'nd', few: 'rd', other: 'th' } as Readonly<Record<Intl.LDMLPluralRule, string>>;
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const list = new Intl.ListFormat('en');

/** "3rd", and from the end "last", "2nd to last". */
export function formatNth(n: number): string {
  if (n === -1) return 'last';
  const count = Math.abs(n);
  return `${count}${ENDINGS[ordinals.select(count)]}${n < 0 ? ' to last' : ''}`;
}

function toDay(item: string): string {
  const day = DAYS[item.slice(-2)] ?? item;
  const n = Number(item.slice(0, -2));
  return n === 0 ? day : `the ${formatNth(n)} ${day}`;
}

const OFTEN = { DAILY: 'daily', WEEKLY: 'weekly', MONTHLY: 'monthly', YEARLY: 'yearly' } as const;
const WEEKDAYS = 'FR,MO,TH,TU,WE';

/** Says how often a rule repeats, for a mark: "weekly", "on weekdays", "every 2 weeks". Returns an invalid rule unchanged. */
export function howOften({ rule }: Pick<Recurrence, 'rule'>): string {
  const parsed = parseRule(rule);
  if (typeof parsed === 'string') return rule;
  const { freq, interval, byDay } = parsed;
  if (interval > 1) return `every ${interval} ${UNITS[freq]}s`;
  return freq === 'WEEKLY' && byDay.toSorted().join() === WEEKDAYS ? 'on weekdays' : OFTEN[freq];
}

/** A recurrence to describe; its end may also be part of the rule alone. */
type Described = Pick<Recurrence, 'rule' | 'mode'> & Partial<Pick<Recurrence, 'count' | 'until'>>;

/**
 * Describes a rule for users: "Every 2 weeks on Monday and Friday, after the last one is done". Returns an invalid rule
 * unchanged.
 */
export function ruleInWords({ rule, mode, ...end }: Described): string {
  const parsed = parseRule(rule);
  if (typeof parsed === 'string') return rule;
  const { freq, interval, byDay, byMonthDay } = parsed;
  const count = end.count ?? parsed.count;
  const until = end.until ?? parsed.until;
  const unit = UNITS[freq];
  const days = [...byDay.map(toDay), ...byMonthDay.map((n) => `the ${formatNth(n)}${n < 0 ? ' day' : ''}`)];
  const often = `Every ${interval === 1 ? unit : `${interval} ${unit}s`}`;
  return [
    days.length === 0 ? often : `${often} on ${list.format(days)}`,
    ...(count === null ? [] : [`${count} ${count === 1 ? 'time' : 'times'}`]),
    ...(until === null ? [] : [`until ${until.slice(0, 10)}`]),
    mode === 'on_schedule' ? 'done or not' : 'after the last one is done',
  ].join(', ');
}
