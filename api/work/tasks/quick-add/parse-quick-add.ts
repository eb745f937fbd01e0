import { dateWords, MONTHS, readLeadingDay } from '../../../platform/written-days.js';
import { readTime } from '../../../platform/written-parts.js';
import { readLeadingRepeat } from '../../../platform/written-repeats.js';
import { toRecurrence } from '../recurrence/read-repeat.js';
import type { Recurrence } from '../recurrence/rules.js';
import { takeEstimates } from './take-estimates.js';
import { TASK_PRIORITIES, type TaskPriority } from '../rules.js';

/** A member whom `@name` can mean. */
interface NamedMember {
  user_id: string;
  username: string;
  display_name: string;
}

/** A project that `#name` can mean. */
interface NamedProject {
  project_id: string;
  name: string;
}

/** What the words of a line are compared with. */
export interface QuickAddWorld {
  /** The day in the user's time zone: `2026-11-26`. */
  today: string;
  /** IANA name of the zone of that day. */
  timezone: string;
  /** Whom `@me` means. */
  userId: string;
  members: readonly NamedMember[];
  projects: readonly NamedProject[];
}

/** The fields of a task that one line of text names. */
interface QuickTask {
  title: string;
  due_date?: string;
  assigned_to?: string;
  priority?: TaskPriority;
  project_id?: string;
  recurrence?: Recurrence;
  estimate?: number;
  tags: string[];
}

/** A line as it was understood; a line with problems creates nothing. */
export interface QuickLine {
  task: QuickTask;
  problems: string[];
}

/** Compares names as people type them: without case, accents, blanks and marks. */
const toKey = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const MARKS = '.,;:!?)';
/** A mark at the end of a word belongs to the sentence. */
function withoutMark(word: string): string {
  let end = word.length;
  while (end > 0 && MARKS.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

/** The world of a line, with the keys of all names, each made once. */
interface KnownWorld extends QuickAddWorld {
  byUsername: ReadonlyMap<string, NamedMember[]>;
  /** By the whole name that is shown. */
  byWhole: ReadonlyMap<string, NamedMember[]>;
  /** By username, whole name, and each part of it. */
  byKey: ReadonlyMap<string, NamedMember[]>;
  projectsByKey: ReadonlyMap<string, NamedProject[]>;
}

function groupBy<Named>(members: readonly Named[], keysOf: (member: Named) => readonly string[]): Map<string, Named[]> {
  const groups = new Map<string, Named[]>();
  for (const member of members)
    for (const key of new Set(keysOf(member))) {
      const group = groups.get(key) ?? [];
      group.push(member);
      groups.set(key, group);
    }
  return groups;
}

const withKeys = (world: QuickAddWorld): KnownWorld => ({
  ...world,
  byUsername: groupBy(world.members, ({ username }) => [username.toLowerCase()]),
  byWhole: groupBy(world.members, ({ display_name }) => [toKey(display_name)]),
  byKey: groupBy(world.members, ({ username, display_name }) =>
    [username, display_name, ...display_name.split(/\s+/u)].map(toKey),
  ),
  projectsByKey: groupBy(world.projects, ({ name }) => [toKey(name)]),
});

/** Returns the members whom a name means: the one of that username or name, else all whose names begin so. */
function findMembers(name: string, { members, userId, byUsername, byKey }: KnownWorld): readonly NamedMember[] {
  const key = toKey(name);
  if (key === '') return [];
  if (key === 'me') return members.filter(({ user_id }) => user_id === userId);
  const named = byUsername.get(name.toLowerCase()) ?? byKey.get(key);
  if (named) return named;
  return [...new Set([...byKey].flatMap(([each, group]) => (each.startsWith(key) ? group : [])))];
}

/** Returns how many of the words after `@name` complete the name of one member, as it is shown everywhere: `@Max Olsen`. */
function moreOfName(name: string, after: readonly string[], { byWhole }: KnownWorld): number {
  for (let count = after.length; count > 0; count -= 1) {
    const key = toKey([name, ...after.slice(0, count)].join(''));
    if (byWhole.get(key)?.length === 1) return count;
  }
  return 0;
}

/** Notes the assignee, or why there is none. */
function readAssignee(line: QuickLine, name: string, world: KnownWorld): void {
  const found = findMembers(name, world);
  const [member] = found;
  if (!member) line.problems.push(`No member of the team matches @${name}`);
  else if (found.length > 1) {
    const names = found.slice(0, 4).map(({ username }) => `@${username}`);
    line.problems.push(`@${name} matches several members: ${names.join(', ')}${found.length > names.length ? ', …' : ''}`);
  } else if (line.task.assigned_to !== undefined && line.task.assigned_to !== member.user_id) {
    line.problems.push('A task has one assignee');
  } else line.task.assigned_to = member.user_id;
}

/** Returns the priority that a word or its beginning names. */
const findPriority = (word: string): TaskPriority | undefined =>
  TASK_PRIORITIES.find((priority) => priority.startsWith(word.toLowerCase()));

/** Notes the project of that name, else the tag. Returns false for a number, which is one of an issue or a pull request: "Fix #123". */
function readHash(line: QuickLine, name: string, { projectsByKey }: KnownWorld): boolean {
  const key = toKey(name);
  const found = key === '' ? [] : (projectsByKey.get(key) ?? []);
  if (found.length > 1) line.problems.push(`#${name} matches several projects`);
  else if (found[0]) line.task.project_id = found[0].project_id;
  else if (/^\d+$/.test(name)) return false;
  else if (!line.task.tags.includes(name)) line.task.tags.push(name);
  return true;
}

/** Reads a word with a sign. Returns false if it is part of the title. */
function readSigned(line: QuickLine, word: string, world: KnownWorld): boolean {
  const [sign, name] = [word.charAt(0), withoutMark(word.slice(1))];
  if (name === '') return false;
  if (sign === '@' && /^[\p{L}\p{N}]/u.test(name)) {
    readAssignee(line, name, world);
    return true;
  }
  if (sign === '#' && /^[\p{L}\p{N}]/u.test(name)) return readHash(line, name, world);
  if (sign !== '!' || !/^\p{L}/u.test(name)) return false;
  const priority = findPriority(name);
  if (priority) line.task.priority = priority;
  else line.problems.push(`!${name} is not a priority: write ${TASK_PRIORITIES.map((each) => `!${each}`).join(', ')}`);
  return true;
}

/** A title with the longest names of people, project and tags. */
const MAX_LINE = 2_000;
const DATE_HINT = ': write 30 nov, 2026-11-30, friday or in 3 days';
/** Problems that one line shows. */
const MAX_PROBLEMS = 5;
/** Words behind one that belong to it: the rest of a day or of a name. */
const MAX_AHEAD = 5;
/** Words of a repeat with its end. */
const MAX_REPEAT = 24;

/** Returns the words from `at` on that a repeat may have, folded: none of another sign. */
function repeatWords(words: readonly string[], at: number): string[] {
  const rest = words.slice(at, at + MAX_REPEAT);
  const end = rest.findIndex((word) => /^[@#!\\]/u.test(word) || word.toLowerCase() === 'due');
  return (end < 0 ? rest : rest.slice(0, end)).map((word) => withoutMark(word.toLowerCase()));
}

/** `Weekly report` is a title: a word such as `weekly` alone is a repeat only where the title ends. */
const isMeant = (taken: readonly string[], said: readonly string[]): boolean =>
  taken.some((word) => word === 'every' || word === 'each') || taken.length > 1 || taken.length === said.length;

/** Notes how often the task repeats. Returns how many words say so; 0 if these do not. */
function readRepeated(line: QuickLine, words: readonly string[], at: number, { today, timezone }: QuickAddWorld): number {
  const said = repeatWords(words, at);
  if (!/^(every|each|on|[a-z]+ly)$/.test(said[0] ?? '')) return 0;
  const found = readLeadingRepeat(said, today);
  const taken = said.slice(0, found?.words ?? 0);
  if (!found || !isMeant(taken, said) || (said[0] === 'on' && !taken.some((word) => word === 'every' || word === 'each')))
    return 0;
  const read = toRecurrence(found.repeat, taken.join(' '), today, timezone);
  if ('problem' in read) line.problems.push(read.problem);
  else if (line.task.recurrence) line.problems.push('A task repeats in one way');
  else {
    line.task.recurrence = read.recurrence;
    line.task.due_date ??= read.due;
  }
  return found.words;
}

/** Words that begin a day where a title ends, and those after which a day is part of the title: "Plan for tomorrow". */
const BEGINS_DAY = /^(today|tomorrow|next|on|by|in|\d{4}-\d{2}-\d{2})$/;
/** `15 dec` and `dec 15`. */
const DAY_OF_MONTH = /^\d{1,2}(st|nd|rd|th)?$/;
const MONTH = new RegExp(`^(${MONTHS.map((month) => `${month.slice(0, 3)}|${month.slice(0, 4)}|${month}`).join('|')})$`);
const isDayOfMonth = ([first = '', second = '']: readonly string[]): boolean => MONTH.test(first) && DAY_OF_MONTH.test(second);
const WEEKDAY = /^(mon|tues?|wed|thu(rs)?|fri)(day)?$|^(wednes|satur|sun)day$/;
/** Days that are names: "Plan Black Friday". */
const NAMES_DAY = new Set(['black', 'good', 'casual', 'cyber', 'ash', 'palm', 'easter', 'bloody']);
const NEEDS_MORE = new Set(['for', 'every', 'each', 'due', 'of', 'from', 'about', 'since', 'like', 'the', 'a']);

/** Returns whether the words may be a day that stands alone. A weekday with a capital is one behind a small word only: "Call them Friday". */
function beginsDay(title: readonly string[], word: string, [first = '', second = '']: readonly string[]): boolean {
  const before = title.at(-1) ?? '';
  if (WEEKDAY.test(first)) return !NAMES_DAY.has(before.toLowerCase()) && (word === first || /^[\p{Ll}\p{N}]/u.test(before));
  return BEGINS_DAY.test(first) || (DAY_OF_MONTH.test(first) && MONTH.test(second)) || isDayOfMonth([first, second]);
}

/** Returns whether all words say how often a task repeats. */
function isRepeat(words: readonly string[], today: string): boolean {
  const said = repeatWords(words, 0);
  return said.length === words.length && readLeadingRepeat(said, today)?.words === said.length;
}

/** Reads a day without `due`, at the end of the title. Returns it with how many words say so; undefined if these do not. */
function readClosingDay(title: readonly string[], words: readonly string[], at: number, today: string) {
  const said = words.slice(at, at + 1 + MAX_AHEAD).map((word) => withoutMark(word.toLowerCase()));
  if (
    title.length === 0 ||
    !beginsDay(title, withoutMark(words[at] ?? ''), said) ||
    NEEDS_MORE.has(title.at(-1)?.toLowerCase() ?? '')
  )
    return undefined;
  const before = said[0] === 'on' || said[0] === 'by' ? 1 : 0;
  const found = readLeadingDay(said.slice(before), today);
  if (!found) return undefined;
  const taken = before + found.words;
  const rest = words.slice(at + taken).filter((word) => !/^[@#!]./u.test(word));
  return rest.length === 0 || isRepeat(rest, today) ? { day: found.day, words: taken } : undefined;
}

/** Returns whether words are the end of a line: a day or a repeat, with nothing but signs behind it. */
const closesLine = (words: readonly string[], today: string): boolean =>
  isRepeat(words, today) || readClosingDay(['…'], words, 0, today) !== undefined;

/**
 * Reads one line as a task: `Fix the crane due friday @uma !high #harbour`. `due` with a day is the due date, `@name` the assignee, `!high` (or its
 * beginning) the priority, `#name` the project of that name or else a tag, `every monday` a repeat, `3pt` an estimate; the other words are the title. A backslash before a word keeps it in the
 * title. A day such as `tomorrow`, `friday` or `15 dec` needs no `due` where the title ends. A sign or `due` that names nothing is a problem, so that no slip becomes a title.
 */
export function parseQuickAdd(text: string, given: QuickAddWorld): QuickLine {
  const line: QuickLine = { task: { title: '', tags: [] }, problems: [] };
  if (text.length > MAX_LINE) {
    line.problems.push(`A line has at most ${MAX_LINE.toLocaleString('en')} characters`);
    return line;
  }
  const world = withKeys(given);
  const said = text.split(/\s+/u).filter((word) => word !== '');
  const { left: words, estimates } = takeEstimates(said, (after) => closesLine(after, world.today));
  if (new Set(estimates).size > 1) line.problems.push('A task has one estimate');
  else if (estimates[0] !== undefined) line.task.estimate = estimates[0];
  const title: string[] = [];
  let isDated = false; // The first day of a repeat gives way to one that is said.
  for (let at = 0; at < words.length && line.problems.length < MAX_PROBLEMS; at += 1) {
    const word = words[at] as string;
    const ahead = words.slice(at + 1, at + 1 + MAX_AHEAD).map((next) => withoutMark(next.toLowerCase()));
    const due = word.toLowerCase() === 'due' ? readLeadingDay(ahead, world.today) : undefined;
    if (due) {
      line.task.due_date = due.day;
      isDated = true;
      at += due.words;
      const time = readTime(ahead.slice(due.words));
      if (time)
        line.problems.push(`A due date here is a day: leave out “${ahead.slice(due.words).slice(0, time.words).join(' ')}”`);
      at += time?.words ?? 0;
      continue;
    }
    const repeated = readRepeated(line, words, at, world);
    if (repeated > 0) {
      at += repeated - 1;
      continue;
    }
    const closing = isDated ? undefined : readClosingDay(title, words, at, world.today);
    if (closing) {
      line.task.due_date = closing.day;
      isDated = true;
      at += closing.words - 1;
      continue;
    }
    // `due` is an ordinary word too; before a number or a day of a month it means a day.
    if (word.toLowerCase() === 'due' && (/^\d/.test(ahead[0] ?? '') || isDayOfMonth(ahead)))
      line.problems.push(`“${dateWords(ahead)}” is not a date${DATE_HINT}`);
    const more = word.startsWith('@') ? moreOfName(word.slice(1), ahead, world) : 0;
    const whole = more > 0 ? [word, ...ahead.slice(0, more)].join('') : word;
    at += more;
    if (!readSigned(line, whole, world)) title.push(/^\\./u.test(word) ? word.slice(1) : word);
  }
  line.task.title = title.join(' ');
  if (line.task.title === '') line.problems.push('A task needs a title');
  return line;
}
