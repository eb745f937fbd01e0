import { readDate, readNumber } from '../../platform/written-days.js';
import type { BareClause, NewTask, Target } from './clauses.js';
import { readPerson } from './referents.js';
import { isSoft, type Reading, splitList, wordsOf, writtenOf } from './reading.js';
import { readTarget } from './target.js';
import type { Token } from './tokens.js';
import { findPriority, getWord, startsWith } from './words.js';

const CREATING = new Set(['create', 'add', 'make', 'open', 'log', 'file', 'new', 'write', 'need', 'enter', 'draft']);
const NEW_NOUNS = new Set('task ticket issue todo to-do item card bug story'.split(' '));
const SEVERAL = new Set('tasks tickets issues todos to-dos items cards bugs stories'.split(' '));
const PARTS = new Set('subtasks sub-tasks steps parts pieces subtask children checklist'.split(' '));
const SPLITTING = new Set(['break', 'split', 'divide', 'decompose', 'cut']);

const word = (tokens: readonly Token[], at: number): string =>
  tokens[at]?.kind === 'word' || tokens[at]?.kind === 'mark' ? getWord(tokens[at]) : '';

/** Drops words from the front, each at most once and in this order. */
function skip(tokens: readonly Token[], ...groups: readonly string[]): readonly Token[] {
  let rest = tokens;
  for (const group of groups) if (rest.length > 0 && group.split('|').includes(word(rest, 0))) rest = rest.slice(1);
  return rest;
}
const skipColon = (tokens: readonly Token[]): readonly Token[] =>
  tokens[0]?.kind === 'colon' || ['-', '–', '—'].includes(word(tokens, 0)) ? tokens.slice(1) : tokens;

type Given = Omit<NewTask, 'title'> & { parent?: Target };
/** `Mia does it`, `Bo will take it` */
const DOING = /^(\S+(?: \S+)?) (?:does|will do|takes|will take|should do|should take|handles|will handle|owns) it$/;
/** Longest words about a new task behind its title, in tokens. */
const MAX_MODIFIER = 9;

/** Reads what a new task is given: `due Friday`, `for Mia`, `with high priority`, `in the Harbor project`. */
function readModifier(reading: Reading, tokens: readonly Token[], isOwner = false): Given | undefined {
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
  if (items.every(({ type }) => type === 'project')) return first === 'for' ? undefined : { project: place.target };
  if (first === 'for' && word(tokens, 0) === 'for') {
    const isTask = items.length === 1 && items[0]?.type === 'task';
    if (isTask && isOwner) return { related: place.target };
  }
  const isParent =
    first === 'under' || rest.some((token) => PARTS.has(getWord(token)) || ['sub-task', 'child'].includes(getWord(token)));
  return isParent ? { parent: place.target } : undefined;
}

/** Takes what a task is given from the end of the tokens, one after the other. */
function takeModifiers(reading: Reading, tokens: readonly Token[]): { head: readonly Token[]; given: Given } {
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

function readNewTask(reading: Reading, tokens: readonly Token[]): (NewTask & { parent?: Target }) | undefined {
  const { head, given } = takeModifiers(reading, tokens);
  const title = readTitle(reading, head);
  return title === undefined ? undefined : { title, ...given };
}

function readSeveral(reading: Reading, tokens: readonly Token[]): NewTask[] | undefined {
  const tasks = splitList(skipColon(tokens)).map((part) =>
    readNewTask(reading, skip(part, '-|–|•|*', 'one', 'called|named|for')),
  );
  const read = tasks.flatMap((task) => (task ? [task] : []));
  return read.length === tasks.length && read.length > 0 ? read : undefined;
}

const subtasks = (of: Target, tasks: readonly NewTask[]): BareClause => ({ does: 'subtasks', of, tasks });

/** `break TARGET down into LIST` */
function readSplit(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  if (!SPLITTING.has(word(tokens, 0))) return undefined;
  const into = tokens.findIndex((token, at) => at > 1 && (getWord(token) === 'into' || token.kind === 'colon'));
  if (into < 0) return undefined;
  let of = skip(tokens.slice(1, into), 'down|up', 'the_');
  while (of.length > 1 && ['down', 'up'].includes(word(of, of.length - 1))) of = of.slice(0, -1);
  const target = readTarget(reading, of);
  if (!target) return undefined;
  const tasks = readSeveral(reading, skipCount(tokens.slice(into + 1)));
  return tasks && subtasks(target.target, tasks);
}

/** Drops `the following three subtasks:` before a list. */
function skipCount(tokens: readonly Token[]): readonly Token[] {
  let rest = skip(tokens, 'the|these|some', 'following', 'new');
  if (
    rest.length > 1 &&
    readNumber(word(rest, 0)) !== undefined &&
    (PARTS.has(word(rest, 1)) || SEVERAL.has(word(rest, 1)) || rest[1]?.kind === 'colon')
  )
    rest = rest.slice(1);
  if (PARTS.has(word(rest, 0)) || (SEVERAL.has(word(rest, 0)) && rest.length > 1)) rest = rest.slice(1);
  return skipColon(rest);
}

const indexOfPreposition = (tokens: readonly Token[], from: number, last: boolean): number => {
  const is = (token: Token): boolean => token.kind === 'word' && ['to', 'under', 'for', 'of', 'on', 'in'].includes(token.text);
  const at = last ? tokens.findLastIndex(is) : tokens.findIndex((token, i) => i >= from && is(token));
  return at >= from ? at : -1;
};

/** `add a subtask TITLE to TARGET`, `add subtasks to TARGET: LIST`, `TARGET needs subtasks: LIST` */
function readSubtasks(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const at = tokens.findIndex(
    (token, i) => i < 14 && token.kind === 'word' && (PARTS.has(token.text) || token.text === 'sub-task'),
  );
  if (at < 0) return undefined;
  const first = word(tokens, 0);
  const colon = tokens.findIndex(({ kind }) => kind === 'colon');
  if (CREATING.has(first) && at <= 4) {
    const rest = tokens.slice(at + 1);
    const isBehind = ['to', 'under', 'for', 'of', 'on'].includes(word(rest, 0));
    if (isBehind) {
      const end = rest.findIndex(
        (token, i) =>
          i > 0 && (token.kind === 'colon' || token.kind === 'string' || ['called', 'named'].includes(getWord(token))),
      );
      const target = end > 0 ? readTarget(reading, rest.slice(1, end)) : undefined;
      const tasks = target && readSeveral(reading, skip(rest.slice(end), 'called|named'));
      return target && tasks && subtasks(target.target, tasks);
    }
    const to = indexOfPreposition(rest, 1, true);
    const target = to > 0 ? readTarget(reading, rest.slice(to + 1)) : undefined;
    const list = skipColon(skip(rest.slice(0, to), 'called|named|titled'));
    const one = ['subtask', 'sub-task'].includes(word(tokens, at));
    const tasks = target && (one ? [readNewTask(reading, list)].flatMap((task) => task ?? []) : readSeveral(reading, list));
    return target && tasks && tasks.length > 0 ? subtasks(target.target, tasks) : undefined;
  }
  const has = tokens.findIndex((token) => ['needs', 'has', 'gets', 'consists'].includes(getWord(token)));
  const target = has > 0 && has < at && colon > at ? readTarget(reading, tokens.slice(0, has)) : undefined;
  const tasks = target?.isKnown ? readSeveral(reading, tokens.slice(colon + 1)) : undefined;
  return target && tasks && subtasks(target.target, tasks);
}

/** The tokens behind `create a new task called`, and whether several tasks follow. */
function readHead(tokens: readonly Token[]): { rest: readonly Token[]; isMany: boolean; priority?: Token[] } | undefined {
  let rest = skip(tokens, 'i|we', 'create|add|make|open|log|file|new|write|need|enter|draft|set');
  if (rest.length === tokens.length || !CREATING.has(word(tokens, tokens.length - rest.length - 1))) return undefined;
  rest = skip(
    rest,
    'up',
    'me|us',
    'a|an|another|the',
    'new|following|one',
    'follow-up|followup|quick|small|short|little|simple|separate',
  );
  if (readNumber(word(rest, 0)) !== undefined && SEVERAL.has(word(rest, 1))) rest = rest.slice(1);
  const noun = rest.findIndex(
    (token, at) => at < 3 && token.kind === 'word' && (NEW_NOUNS.has(token.text) || SEVERAL.has(token.text)),
  );
  if (noun < 0) return undefined;
  const before = rest.slice(0, noun);
  if (before.length > 0 && !findPriority(wordsOf(before))) return undefined;
  const isMany = SEVERAL.has(word(rest, noun));
  const priority = before.length > 0 ? { priority: [...before] } : {};
  return { rest: rest.slice(noun + 1), isMany, ...priority };
}

/** `create a [PRIORITY] task [for PERSON] [called] TITLE [due DATE] [for PERSON] [in PROJECT]` */
function readCreation(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const head = readHead(tokens);
  if (!head) return undefined;
  if (head.isMany) {
    const tasks = readSeveral(reading, skip(head.rest, 'called|named|for|to'));
    return (
      tasks &&
      (tasks.length > 1
        ? { does: 'subtasks', of: { kind: 'list', targets: [] }, tasks }
        : { does: 'create', task: tasks[0] as NewTask })
    );
  }
  const owned = readOwner(reading, head.rest);
  const named = skipColon(skip(owned.rest, 'called|named|titled|to|saying|that', 'says'));
  const priority = head.priority && findPriority(wordsOf(head.priority));
  if (named.length === 0 || readModifier(reading, named)?.to) return { does: 'create', task: { title: '' } };
  // `a task for the roof repair` has its title there.
  const read = readNewTask(reading, word(named, 0) === 'for' ? named.slice(1) : named);
  if (!read) return undefined;
  const { parent, ...task } = { ...(priority ? { priority } : {}), ...owned.given, ...read };
  return parent ? subtasks(parent, [task]) : { does: 'create', task };
}

/** `for Mia` or `in the Harbor project` before the title. */
function readOwner(reading: Reading, tokens: readonly Token[]): { rest: readonly Token[]; given: Given } {
  if (!['for', 'in', 'on', 'under', 'due'].includes(word(tokens, 0))) return { rest: tokens, given: {} };
  for (let end = Math.min(tokens.length - 1, 6); end > 1; end -= 1) {
    const isBorder =
      ['to', 'called', 'named', 'titled'].includes(word(tokens, end)) || ['colon', 'string'].includes(tokens[end]?.kind ?? '');
    const given = isBorder ? readModifier(reading, tokens.slice(0, end), true) : undefined;
    if (given) return { rest: tokens.slice(end), given };
  }
  return { rest: tokens, given: {} };
}

/** `remind PERSON to TITLE [DATE]` */
function readReminder(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const to = tokens.findIndex((token) => getWord(token) === 'to');
  if (!startsWith(tokens, 'remind') || to < 2 || to > 4) return undefined;
  const person = readPerson(reading, wordsOf(tokens.slice(1, to)));
  const task = readNewTask(reading, tokens.slice(to + 1));
  return person && task ? { does: 'create', task: { ...task, to: person.to } } : undefined;
}

/** `add "TITLE" to PROJECT` */
function readAddition(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const to = tokens.findLastIndex((token) => ['to', 'in', 'under'].includes(getWord(token)));
  if (!['add', 'put', 'create'].includes(word(tokens, 0)) || to < 2 || tokens[1]?.kind !== 'string' || to !== 2) return undefined;
  const place = readTarget(reading, tokens.slice(to + 1));
  const isProject = place?.isKnown && place.target.kind === 'named' && place.target.items.every(({ type }) => type === 'project');
  return isProject ? { does: 'create', task: { title: tokens[1].value, project: place.target } } : undefined;
}

/** Reads a clause that creates tasks. */
export const readCreate = (reading: Reading, tokens: readonly Token[]): BareClause | undefined =>
  readSplit(reading, tokens) ??
  readSubtasks(reading, tokens) ??
  readReminder(reading, tokens) ??
  readCreation(reading, tokens) ??
  readAddition(reading, tokens);

/** Whether a clause creates a task. */
export const beginsTask = (tokens: readonly Token[]): boolean => readHead(tokens.slice(0, 10)) !== undefined;

/** Whether a clause begins a list of titles, in which verbs and `and` are words like others. */
export const beginsList = (tokens: readonly Token[]): boolean =>
  SPLITTING.has(word(tokens, 0)) ||
  tokens.slice(0, 14).some((token) => token.kind === 'word' && PARTS.has(token.text) && token.text !== 'subtask') ||
  (readHead(tokens.slice(0, 8))?.isMany ?? false);
