const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 86_400_000;
const MAX_DAYS = 3_650;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

const toIso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A date, YYYY-MM-DD; null for none. `impossible`: a day that no calendar has. */
export type DueDate = { date: string | null } | 'impossible';

/**
 * Reads a date from folded words. A weekday is the next one, never today.
 * @param today YYYY-MM-DD where the person is
 * @returns undefined if the words are no date
 */
export function readDate(words: readonly string[], today: string): DueDate | undefined {
  const now = Date.parse(`${today}T00:00:00Z`);
  const [first = '', second = '', third = ''] = words[0] === 'on' ? words.slice(1) : words;
  if (first === 'in' && (third === 'days' || third === 'day') && /^\d{1,4}$/.test(second) && words.length === 3)
    return Number(second) > MAX_DAYS ? 'impossible' : { date: toIso(now + Number(second) * DAY_MS) };
  if (second !== '') return undefined;
  if (first === 'none' || first === 'nothing') return { date: null };
  if (first === 'today') return { date: today };
  if (first === 'tomorrow') return { date: toIso(now + DAY_MS) };
  const day = DAYS.indexOf(first);
  if (day >= 0) return { date: toIso(now + (((day - new Date(now).getUTCDay() + 6) % 7) + 1) * DAY_MS) };
  if (!DATE.test(first)) return undefined;
  const ms = Date.parse(`${first}T00:00:00Z`);
  return Number.isNaN(ms) || toIso(ms) !== first ? 'impossible' : { date: first };
}
