import { readDate } from '../../../platform/written-days.js';
import type { NewTask, Target } from '../clauses.js';
import { isSoft, type Reading, wordsOf, writtenOf } from '../reading.js';
import { readPerson } from '../referents.js';
import { readTarget } from '../target.js';
import type { Token } from '../tokens.js';
import { findPriority, getWord } from '../words.js';

export const CREATING = new Set(['create', 'add', 'make', 'open', 'log', 'file', 'new', 'write', 'need', 'enter', 'draft']);
export const SEVERAL = new Set('tasks tickets issues todos to-dos items cards bugs stories'.split(' '));
export const PARTS = new Set('subtasks sub-tasks steps parts pieces subtask children checklist'.split(' '));

export const word = (tokens: readonly Token[], at: number): string =>
  tokens[at]?.kind === 'word' || tokens[at]?.kind === 'mark' ? getWord(tokens[at]) : '';

/** Drops words from the front, each at most once and in this order. */
export function skip(tokens: readonly Token[], ...groups: readonly string[]): readonly Token[] {
  let rest = tokens;
  for (const group of groups) if (rest.length > 0 && group.split('|').includes(word(rest, 0))) rest = rest.slice(1);
  return rest;
}
export const skipColon = (tokens: readonly Token[]): readonly Token[] =>
  tokens[0]?.kind === 'colon' || ['-', '–', '—'].includes(word(tokens, 0)) ? tokens.slice(1) : tokens;

export type Given = Omit<NewTask, 'title'> & { parent?: Target };
/** `Mia does it`, `Bo will take it` */
const DOING = /^(\S+(?: \S+)?) (?:does|will do|takes|will take|should do|should take|handles|will handle|owns) it$/;
/** Longest words about a new task behind its title, in tokens. */
const MAX_MODIFIER = 9;

/** Reads what a new task is given: `due Friday`, `for Mia`, `with high priority`, `in the Harbor project`. */
export function readModifier(reading: Reading, tokens: readonly Token[], isOwner = false): Given | undefined {
  const rest = skip(
    tokens.filter(({ kind }) => kind !== 'comma'),
    'and|with|that|which',
    'is|should|a|it|has',
    'be',
  );
  const [first, second] = [word(rest, 0), word(rest, 1)];
  const words = wordsOf(rest);
  const dated = first === 'due' || first === 'deadline' ? words.slice(second === 'date' ? 2 : 1) : words;
  const day =
    dated.length < words.length || tokens.length === rest.length
      ? readDate(
          dated.filter((each) => each !== ','),
          reading.today,
        )
      : undefined;
  if (day !== undefined && !['to', 'none', 'never', 'nothing', 'weekend'].includes(first)) return { due: day };
  const priority = words.includes('priority') || (rest.length === 1 && tokens.length > 1) ? findPriority(words) : undefined;
  if (priority) return { priority };
  const isAssigned = (first === 'assigned' || first === 'assign') && second === 'to';
  const person =
    isAssigned || ['for', 'to', 'owner', 'assignee', '@'].includes(first)
      ? readPerson(reading, wordsOf(rest.slice(isAssigned ? 2 : 1)))
      : undefined;
  if (person && (isAssigned || person.isKnown)) return { to: person.to };
  const doer = DOING.exec(words.join(' '))?.[1];
  const done = doer === undefined ? undefined : readPerson(reading, doer.split(' '));
  if (done?.isKnown) return { to: done.to };
  if (!['in', 'to', 'under', 'on', 'as', 'of', 'for', 'into'].includes(first)) return undefined;
  const place = readTarget(
    reading,
    skip(rest, 'as|in|to|under|on|of|for|into', 'a', 'subtask|sub-task|part|child|step', 'of|to|under|for'),
  );
  if (!place?.isKnown || place.target.kind !== 'named') return undefined;
  const { items } = place.target;
  if (items.every(({ type }) => type === 'project')) return first === 'for' && !isOwner ? undefined : { project: place.target };
  if (first === 'for' && word(tokens, 0) === 'for') {
    const isTask = items.length === 1 && items[0]?.type === 'task';
    if (isTask && isOwner) return { related: place.target };
  }
  const isParent =
    first === 'under' || rest.some((token) => PARTS.has(getWord(token)) || ['sub-task', 'child'].includes(getWord(token)));
  return isParent ? { parent: place.target } : undefined;
}

/** Takes what a task is given from the end of the tokens, one after the other. */
export function takeModifiers(reading: Reading, tokens: readonly Token[]): { head: readonly Token[]; given: Given } {
  let head = tokens;
  let given: Given = {};
  for (let round = 0; round < 6; round += 1) {
    let found: { given: Given; start: number } | undefined;
    for (let start = Math.max(1, head.length - MAX_MODIFIER); start < head.length && !found; start += 1) {
      const read = readModifier(reading, head.slice(start));
      if (read) found = { given: read, start };
    }
    if (!found) break;
    given = { ...found.given, ...given };
    head = head.slice(0, found.start);
    while (head.length > 1 && (isSoft(head.at(-1)) || word(head, head.length - 1) === 'with')) head = head.slice(0, -1);
  }
  return { head, given };
}

/** A title: a quoted string alone, or all that was written. Undefined if there is more beside a string. */
function readTitle(reading: Reading, tokens: readonly Token[]): string | undefined {
  const [first] = tokens;
  if (first?.kind === 'string') return tokens.length === 1 ? first.value : undefined;
  const text = writtenOf(reading, tokens);
  // Single quotes are apostrophes elsewhere.
  return /^'[^']+'$/.test(text) ? text.slice(1, -1) : text;
}

export function readNewTask(reading: Reading, tokens: readonly Token[]): (NewTask & { parent?: Target }) | undefined {
  const { head, given } = takeModifiers(reading, tokens);
  const title = readTitle(reading, head);
  return title === undefined ? undefined : { title, ...given };
}
