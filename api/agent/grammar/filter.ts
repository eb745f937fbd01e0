import { readRange } from '../../platform/written-ranges.js';
import { readPastRange } from './asking/past-range.js';
import { phraseStems, stem } from './match.js';
import { readFieldValue } from './sets/field-values.js';
import { type OwnWords, readStage } from './sets/own-words.js';
import type { PeopleIndex } from './people.js';
import { isPersonal, readPerson, readPronounOfPerson } from './referents.js';
import { OPEN } from './sets/is-meant.js';
import { readCycle, readKind, readProject, readTag } from './sets/named-sets.js';
import type { Found, Status, TaskFilter } from './terms.js';
import { findPriority, findState, NOUNS, PLURALS } from './words.js';

/** Phrases of tasks and what they say, longest first where one begins with another. */
const PHRASES: readonly (readonly [phrases: string, filter: TaskFilter])[] = [
  [
    'overdue|over due|late|past due|past their due date|past its due date|behind schedule|behind|delayed|missed',
    { isOverdue: true },
  ],
  [
    'not done|not finished|not completed|not complete|not closed|unfinished|incomplete|outstanding|remaining|pending|open|left to do|left|to be done|undone|unresolved',
    { statuses: OPEN },
  ],
  [
    'canceled|cancelled|abandoned|called off|dropped|given up|not needed any more|not needed anymore',
    { statuses: ['done'], resolutions: ['canceled'] },
  ],
  [
    'duplicate|duplicates|a duplicate|dupes|closed as a duplicate|closed as duplicate|closed as duplicates|marked as duplicates|marked as a duplicate',
    { statuses: ['done'], resolutions: ['duplicate'] },
  ],
  ['not started|not yet started|unstarted|to do|todo|to-do', { statuses: ['todo'] }],
  ['blocked|stuck|waiting for something|held up|on hold|waiting on something', { isBlocked: true, statuses: OPEN }],
  [
    'unassigned|not assigned|nobody is assigned to|no one is assigned to|nobody is working on|no one is working on|nobody works on|nobody has|nobody owns|without an assignee|without assignee|without an owner|without owner|without anyone|assigned to nobody|assigned to no one|' +
      'nobody picked up|nobody has picked up|no one picked up|nobody taken|nobody has taken|nobody taken on|no one taken|nobody claimed|' +
      'nobody assigned|no one assigned|has no owner|have no owner|has no assignee|have no assignee|no owner|no assignee|nobody',
    { assignee: { kind: 'nobody' }, statuses: OPEN },
  ],
  [
    'without a due date|without due date|without due dates|without a deadline|without deadline|no due date|no deadline|undated|not scheduled|unscheduled|without a date|no date',
    { hasNoDueDate: true, statuses: OPEN },
  ],
  [
    'missing an owner|missing an assignee|lacking an owner|lacking an assignee|lacks an owner|lack an owner|with nobody|with no one',
    { assignee: { kind: 'nobody' }, statuses: OPEN },
  ],
  [
    'missing a due date|missing a deadline|lacking a due date|lacking a deadline|lacks a due date|lack a due date|no due dates|no deadlines|without any due date|without any deadline',
    { hasNoDueDate: true, statuses: OPEN },
  ],
  [
    'without a priority|without priority|without any priority|no priority|has no priority|have no priority|unprioritized|unprioritised|untriaged|not triaged',
    { priorities: ['none'], statuses: OPEN },
  ],
  [
    'in no cycle|not in a cycle|not in any cycle|without a cycle|without cycle|in no sprint|not in a sprint|not in any sprint|without a sprint|not planned',
    { hasNoCycle: true, statuses: OPEN },
  ],
  [
    'without one|with none|that has none|that have none|has none|have none|does not have one|do not have one',
    { lacksIt: true, statuses: OPEN },
  ],
];
const BY_PHRASE = new Map(PHRASES.flatMap(([phrases, filter]) => phrases.split('|').map((phrase) => [phrase, filter] as const)));
const MAX_PHRASE = 5;

/** Words between the parts of a filter. */
const LINKING = new Set(
  (
    'both that is are were was which who whose the all of and have has with still being be a an any not_ yet there been it this_ to_ do does ' +
    'currently every each everything anything whatever whichever priority prio in_ linked our we us status those these them something list ' +
    'team anybody anyone everyone going please overview'
  ).split(' '),
);
/** Words before a range of days, by what it bounds. */
const DONE_WORDS = new Set([
  'done',
  'finished',
  'completed',
  'closed',
  'shipped',
  'finish',
  'complete',
  'close',
  'finishing',
  'fixed',
  'resolved',
]);
const DROPPED_WORDS = new Set(['canceled', 'cancelled', 'abandoned', 'dropped']);
const DUE_WORDS = new Set(['due', 'deadline', 'ends', 'end', 'coming', 'scheduled', 'planned']);

/** What reading a filter needs. `isTag`: whether a task that the message may be about has the tag. */
export interface FilterReader {
  people: PeopleIndex;
  persons: readonly string[];
  today: string;
  isTag: (word: string) => boolean;
  own?: OwnWords;
}

const longest = (
  words: readonly string[],
  at: number,
  max: number,
  read: (part: readonly string[]) => TaskFilter | undefined,
) => {
  for (let length = Math.min(max, words.length - at); length > 0; length -= 1) {
    const filter = read(words.slice(at, at + length));
    if (filter) return { filter, length };
  }
  return undefined;
};

const readPhrase = (part: readonly string[]): TaskFilter | undefined => BY_PHRASE.get(part.join(' '));
const readStatus = (part: readonly string[]): TaskFilter | undefined => {
  const status = findState(part[0] === 'in' && part.length > 1 && part[1] !== 'progress' ? part.slice(1) : part);
  return status && part.join(' ') !== 'ready' ? { statuses: [status] } : undefined;
};
const readPriority = (part: readonly string[]): TaskFilter | undefined => {
  const priority = findPriority(part);
  return priority && { priorities: [priority] };
};

const ASSIGNED = new Set(['assigned', 'belong', 'belongs', 'belonging']);
function readAssigned(words: readonly string[], at: number, reader: FilterReader): Found | undefined {
  const [first = '', second] = [words[at], words[at + 1]];
  if (first === 'my' || first === 'mine') return { filter: { assignee: { kind: 'me' } }, length: 1 };
  const isTheirs = first === 'their' && reader.persons.length > 0 && words.slice(at + 1).some((word) => PLURALS.has(word));
  if (isTheirs || first === 'his' || first === 'her' || first === 'hers')
    return { filter: { assignee: readPronounOfPerson(first, reader.persons) }, length: 1 };
  const lead = ASSIGNED.has(first) && second === 'to' ? 2 : ['of', 'for', 'from', 'by', 'with'].includes(first) ? 1 : 0;
  const person = longest(words, at + lead, 3, (part) => {
    const read = readPerson(reader, part);
    const isNamed = read?.to.kind === 'name' || isPersonal(part[0] ?? '') || part[0] === 'i';
    return read?.isKnown && (lead > 0 || isNamed) ? { assignee: read.to } : undefined;
  });
  if (!person) return undefined;
  const length = lead + person.length;
  return { ...person, length: words[at + length] === "'s" ? length + 1 : length };
}

function readDays(words: readonly string[], at: number, { today }: FilterReader): Found | undefined {
  const word = words[at] ?? '';
  const isDropped = DROPPED_WORDS.has(word);
  const isDone = DONE_WORDS.has(word) || isDropped;
  const lead = isDone || DUE_WORDS.has(word) ? 1 : 0;
  const found = longest(words, at + lead, 6, (part) => {
    // What is done since a day was done after the last one.
    const range = isDone && part[0] === 'since' ? readPastRange(part, today) : readRange(part, today);
    if (!range) return undefined;
    // What is to be done by a day is due then; what was done in a week is done.
    const isPast = isDone && range.from !== undefined && range.from <= today;
    if (isPast) return { completed: range, statuses: ['done'], ...(isDropped && { resolutions: ['canceled'] }) };
    if (isDropped) return undefined;
    return { due: range };
  });
  if (found) return { ...found, length: found.length + lead };
  return word === 'due' ? { filter: {}, length: 1 } : undefined;
}

const READERS: readonly ((words: readonly string[], at: number, reader: FilterReader) => Found | undefined)[] = [
  (words, at, { own }) => readFieldValue(words, at, own),
  (words, at, { own }) => readStage(words, at, own),
  readDays,
  (words, at) => longest(words, at, MAX_PHRASE, readPhrase),
  readTag,
  (words, at, { isTag }) => readKind(words, at, isTag),
  readCycle,
  readProject,
  (words, at) => longest(words, at, 3, readStatus),
  (words, at) => longest(words, at, 3, readPriority),
  readAssigned,
];

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const union = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined): T[] => [...new Set([...(a ?? []), ...(b ?? [])])];

/** Conditions on custom fields that one question may have: each is read for thousands of tasks. */
const MAX_FIELDS = 5;

/** Both of two filters; undefined if they name two persons, days or tags, which no task has together, or more custom fields than a question may. */
export function merge(before: TaskFilter, more: TaskFilter): TaskFilter | undefined {
  const differs = (key: keyof TaskFilter): boolean =>
    before[key] !== undefined && more[key] !== undefined && !isEqual(before[key], more[key]);
  if (differs('assignee') || differs('due') || differs('completed') || differs('tag') || differs('project') || differs('cycle'))
    return undefined;
  const merged = { ...before, ...more };
  if (differs('stages')) merged.stages = union(before.stages, more.stages);
  if (differs('fields')) {
    const fields = [...(before.fields ?? []), ...(more.fields ?? [])];
    merged.fields = fields.filter((one, at) => fields.findIndex((other) => isEqual(other, one)) === at);
    if (merged.fields.length > MAX_FIELDS) return undefined;
  }
  if (differs('priorities')) merged.priorities = union(before.priorities, more.priorities);
  if (differs('resolutions')) merged.resolutions = union(before.resolutions, more.resolutions);
  // `unassigned` says open too, unless a state says more.
  if (differs('statuses')) {
    const stated = [before.statuses, more.statuses].filter((each) => !isEqual(each, OPEN));
    merged.statuses = stated.reduce<Status[]>(union, []);
  }
  return merged;
}

/** `overdue or due before Tuesday` is all that is due until then. Undefined for another choice. */
function lateOrDue(before: TaskFilter, more: TaskFilter, today: string): TaskFilter | undefined {
  const due = before.due ?? more.due;
  const isChoice = (before.isOverdue && more.due && !before.due) || (before.due && more.isOverdue);
  if (!isChoice || due?.to === undefined || (due.from !== undefined && due.from > today)) return undefined;
  const { isOverdue: _late, due: _due, ...others } = { ...before, ...more };
  return { ...others, due: { to: due.to }, statuses: others.statuses ?? OPEN };
}

/** Words as a filter, with those that say nothing known. */
export interface ReadWords {
  filter: TaskFilter;
  rest: string[];
  hasNoun: boolean;
}

/** Words that turn a filter into another one. */
const TURNING = new Set(['not', 'no', 'never', 'without', 'except', 'or', 'neither', 'nor', 'unless', 'but', 'cannot']);

/**
 * Reads words as a filter.
 * @returns what they say, and the words that say nothing known
 */
export function readFilter(words: readonly string[], reader: FilterReader): ReadWords {
  let filter: TaskFilter = {};
  let last: TaskFilter = {};
  const rest: string[] = [];
  let hasNoun = false;
  for (let at = 0; at < words.length; ) {
    const word = words[at] as string;
    const found = READERS.map((read) => read(words, at, reader)).find((each) => each !== undefined);
    const merged = found && merge(filter, found.filter);
    hasNoun ||= PLURALS.has(word);
    const untilDay = found && rest.at(-1) === 'or' ? lateOrDue(filter, found.filter, reader.today) : undefined;
    if (found && untilDay) {
      rest.pop();
      filter = untilDay;
      last = found.filter;
      at += found.length;
      continue;
    }
    if (found && !merged) {
      // A second person or day makes it no filter.
      rest.push('or');
      at += found.length;
      continue;
    }
    if (found && merged) {
      // `high or urgent` is one property, `overdue or urgent` are two.
      const isChoice = rest.at(-1) === 'or' && isEqual(Object.keys(found.filter), Object.keys(last));
      if (isChoice) rest.pop();
      filter = merged;
      last = found.filter;
      at += found.length;
      continue;
    }
    if (PLURALS.has(word) || NOUNS.has(word)) hasNoun = true;
    else if (!LINKING.has(word) && word !== "'s") rest.push(word);
    at += 1;
  }
  return { filter, rest, hasNoun };
}

/** Adds words that name tasks or their project to a filter; undefined if there are too many to be a name. */
export function withWords(filter: TaskFilter, rest: readonly string[]): TaskFilter | undefined {
  if (rest.length === 0) return filter;
  // Of which part they are, the words do not say.
  if (filter.anyOf) return undefined;
  // What is excepted or left to choose is not what is named.
  if (rest.some((word) => TURNING.has(word))) return undefined;
  const { distinctive } = phraseStems(rest);
  if (distinctive.length === 0 || rest.length > 6) return undefined;
  return { ...filter, words: distinctive, said: rest.filter((word) => distinctive.includes(stem(word))) };
}

/** Only open tasks, unless the filter says otherwise. */
export const openOnly = (filter: TaskFilter): TaskFilter =>
  filter.anyOf
    ? { ...filter, anyOf: filter.anyOf.map(openOnly) }
    : filter.statuses || filter.completed
      ? filter
      : { ...filter, statuses: OPEN };
