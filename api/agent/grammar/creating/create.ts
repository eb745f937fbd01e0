import { readDate, readNumber } from '../../../platform/written-days.js';
import { NO_REMINDER } from '../doubts/cannot.js';
import type { BareClause, NewTask } from '../clauses.js';
import { type Reading, wordsOf } from '../reading.js';
import { readPerson } from '../referents.js';
import { readTarget } from '../target.js';
import type { Token } from '../tokens.js';
import { findPriority, getWord, startsWith } from '../words.js';
import {
  CREATING,
  type Given,
  PARTS,
  readModifier,
  readNewTask,
  SEVERAL,
  skip,
  skipColon,
  takeModifiers,
  word,
} from './new-task.js';
import { FOR_WHICH, readSeveral, readSplit, readSubtasks, SPLITTING, subtasks } from './subtasks.js';

const NEW_NOUNS = new Set('task ticket issue todo to-do item card bug story'.split(' '));

/** What is behind `create a new task called`. */
interface Head {
  rest: readonly Token[];
  /** Several tasks follow; with their number. */
  isMany: boolean;
  isCounted: boolean;
  priority?: Token[];
}

function readHead(tokens: readonly Token[]): Head | undefined {
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
  const uncounted = rest;
  const counted = readNumber(word(rest, 0)) === undefined ? rest : skip(rest.slice(1), 'new|more|other|small|quick|short');
  if (SEVERAL.has(word(counted, 0))) rest = counted;
  const noun = rest.findIndex(
    (token, at) => at < 3 && token.kind === 'word' && (NEW_NOUNS.has(token.text) || SEVERAL.has(token.text)),
  );
  if (noun < 0) return undefined;
  const before = rest.slice(0, noun);
  if (before.length > 0 && !findPriority(wordsOf(before))) return undefined;
  const isMany = SEVERAL.has(word(rest, noun));
  const priority = before.length > 0 ? { priority: [...before] } : {};
  return { rest: rest.slice(noun + 1), isMany, isCounted: counted.length < uncounted.length, ...priority };
}

/** Asks for the titles of tasks of which only the topic is said: `three tasks for the launch`. */
const whichTitles = ({ project, title }: NewTask): string => {
  const said = project?.kind === 'named' ? project.items[0]?.title : / in (\S.*)$/.exec(title)?.[1];
  const place = said === undefined ? '' : ` in ${said}`;
  return `Which tasks? Write their titles: “create tasks 'A', 'B' and 'C'${place}”.`;
};

/** A project behind the last title is that of all. */
function withPlaceOfLast(tasks: readonly NewTask[]): NewTask[] {
  const project = tasks.at(-1)?.project;
  return tasks.map((task) => (project ? { project, ...task } : task));
}

/** `create a [PRIORITY] task [for PERSON] [called] TITLE [due DATE] [for PERSON] [in PROJECT]` */
function readCreation(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const head = readHead(tokens);
  if (!head) return undefined;
  const owned = readOwner(reading, head.rest);
  if (!owned) return { does: 'doubt', text: FOR_WHOM };
  const priority = head.priority && findPriority(wordsOf(head.priority));
  if (head.isMany) {
    const { parent, ...given } = { ...(priority && { priority }), ...owned.given };
    const read = readSeveral(reading, skip(owned.rest, 'called|named|for|to'));
    const several = read && { ...read, tasks: withPlaceOfLast(read.tasks.map((task) => ({ ...given, ...task }))) };
    if (read && isOpenWhose(reading, owned.rest, read.tasks)) return { does: 'doubt', text: FOR_WHICH };
    if (read?.tasks.length === 1 && (head.isCounted || word(owned.rest, 0) === 'for'))
      return { does: 'doubt', text: whichTitles(read.tasks[0] as NewTask) };
    if (parent) return subtasks(parent, several);
    const one = several?.tasks.length === 1 ? several.tasks[0] : undefined;
    return one ? { does: 'create', task: one } : subtasks({ kind: 'list', targets: [] }, several);
  }
  const named = skipColon(skip(owned.rest, 'called|named|titled|to|saying|that', 'says'));
  if (named.length === 0 || readModifier(reading, named)?.to) return { does: 'create', task: { title: '' } };
  // `a task for the roof repair` has its title there.
  const read = readNewTask(reading, word(named, 0) === 'for' ? named.slice(1) : named);
  if (!read) return undefined;
  const { parent, ...task } = { ...(priority ? { priority } : {}), ...owned.given, ...read };
  return parent ? subtasks(parent, { tasks: [task], isOpen: false }) : { does: 'create', task };
}

/** All of what stands before a title, such as `for Mia by Friday`. */
function readGiven(reading: Reading, tokens: readonly Token[], border: Token): Given | undefined {
  const one = readModifier(reading, tokens, true);
  if (one) return one;
  const { head, given } = takeModifiers(reading, [border, ...tokens]);
  return head.length === 1 && Object.keys(given).length > 0 ? given : undefined;
}

/** Whether it is open for which of several titles a member is named: only behind the last one, or before the first without a colon. */
function isOpenWhose(reading: Reading, tokens: readonly Token[], tasks: readonly NewTask[]): boolean {
  const [, ...others] = tasks.toReversed();
  if (others.length > 0 && tasks.at(-1)?.to && others.every(({ to }) => !to) && tokens[0]?.kind !== 'colon') return true;
  return word(tokens, 0) === 'for' && [2, 3].some((end) => readPerson(reading, wordsOf(tokens.slice(1, end)))?.isKnown === true);
}

const FOR_WHOM =
  'No member and no linked project is called what stands before the colon. Write for example “create tasks for @username: one, two”, or the titles in quotation marks.';

/** `for Mia` or `in the Harbor project` before the title. Undefined for one before a colon that is not known: it is no part of the first title. */
function readOwner(reading: Reading, tokens: readonly Token[]): { rest: readonly Token[]; given: Given } | undefined {
  if (!['for', 'in', 'on', 'under', 'due'].includes(word(tokens, 0))) return { rest: tokens, given: {} };
  for (let end = Math.min(tokens.length - 1, 6); end > 1; end -= 1) {
    const isBorder =
      ['to', 'called', 'named', 'titled'].includes(word(tokens, end)) || ['colon', 'string'].includes(tokens[end]?.kind ?? '');
    const given = isBorder ? readGiven(reading, tokens.slice(0, end), tokens[end] as Token) : undefined;
    if (given) return { rest: tokens.slice(end), given };
    if (word(tokens, 0) === 'for' && end < 5 && tokens[end]?.kind === 'colon') return undefined;
  }
  return { rest: tokens, given: {} };
}

/** `me in two days`: who, and when. */
function readWhom(reading: Reading, tokens: readonly Token[]) {
  for (let end = 1; end <= tokens.length; end += 1) {
    const person = readPerson(reading, wordsOf(tokens.slice(0, end)));
    if (!person) continue;
    const due = end === tokens.length ? undefined : readDate(wordsOf(tokens.slice(end)), reading.today);
    if (end === tokens.length || due !== undefined) return { to: person.to, ...(due !== undefined && { due }) };
  }
  return undefined;
}

/** `remind PERSON [DATE] to TITLE [DATE]` */
function readReminder(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const to = tokens.findIndex((token) => getWord(token) === 'to');
  if (!startsWith(tokens, 'remind') || to < 2 || to > 8) return undefined;
  const given = readWhom(reading, tokens.slice(1, to));
  if (!given) return { does: 'doubt', text: NO_REMINDER };
  const task = readNewTask(reading, tokens.slice(to + 1));
  return task ? { does: 'create', task: { ...given, ...task, to: given.to } } : undefined;
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
