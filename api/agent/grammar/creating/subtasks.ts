import { readNumber } from '../../../platform/written-days.js';
import type { BareClause, NewTask, Target } from '../clauses.js';
import { type Reading, splitList, wordsOf } from '../reading.js';
import { readTarget } from '../target.js';
import type { Token } from '../tokens.js';
import { getWord, isPriorityWord } from '../words.js';
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

export const SPLITTING = new Set(['break', 'split', 'divide', 'decompose', 'cut']);

/** Words with which a part between commas says more of the task before it, and is no title. */
const GIVING = new Set(['due', 'deadline', 'for', 'with', 'assigned', 'owner', 'assignee', 'by', 'until']);

/** What a new task may be given behind its title and a comma: `, due Friday, for Mia`. */
function readGiven(reading: Reading, part: readonly Token[]): Given | undefined {
  if (!GIVING.has(word(part, 0)) && !wordsOf(part).some(isPriorityWord)) return undefined;
  const given = readModifier(reading, part);
  return given && (given.due || given.priority || given.to) ? given : undefined;
}

/** Words with which a part says more of all tasks of a list: `, all for Mia`. */
const ALL = ['all', 'each', 'everything'];

/** Titles of a list, with what they are given. `isOpen`: several titles, and behind them what may be meant for one or for all. */
interface Several {
  tasks: NewTask[];
  isOpen: boolean;
}

export function readSeveral(reading: Reading, tokens: readonly Token[]): Several | undefined {
  const tasks: NewTask[] = [];
  let isGiven = false;
  for (const part of splitList(skipColon(tokens))) {
    const last = tasks.at(-1);
    const ofAll = last && ALL.includes(word(part, 0)) ? readGiven(reading, part.slice(1)) : undefined;
    if (ofAll) {
      for (const task of tasks) Object.assign(task, ofAll);
      continue;
    }
    const given = last && readGiven(reading, part);
    if (given) {
      Object.assign(last, given);
      isGiven = true;
      continue;
    }
    const task = readNewTask(reading, skip(part, '-|–|•|*', 'one', 'called|named|for'));
    if (!task) return undefined;
    tasks.push(task);
  }
  return tasks.length > 0 ? { tasks, isOpen: isGiven && tasks.length > 1 } : undefined;
}

export const FOR_WHICH =
  'Is that meant for all of the new tasks, or for one? Write it behind each title, without a comma before it, or once before a colon: “create tasks for Mia: one, two”.';
/** The clause of new tasks, or a question if it is open what is meant for which. */
const unlessOpen = ({ tasks, isOpen }: Several, build: (tasks: NewTask[]) => BareClause): BareClause =>
  isOpen ? { does: 'doubt', text: FOR_WHICH } : build(tasks);

export const subtasks = (of: Target, several: Several | undefined): BareClause | undefined =>
  several && unlessOpen(several, (tasks) => ({ does: 'subtasks', of, tasks }));

const INTO_WHICH = 'Into which tasks? Write their titles: “split … into draft, review and release”.';

/** `break TARGET down into LIST` */
export function readSplit(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  if (!SPLITTING.has(word(tokens, 0))) return undefined;
  const into = tokens.findIndex((token, at) => at > 1 && (getWord(token) === 'into' || token.kind === 'colon'));
  if (into < 0) return undefined;
  let of = skip(tokens.slice(1, into), 'down|up', 'the_');
  while (of.length > 1 && ['down', 'up'].includes(word(of, of.length - 1))) of = of.slice(0, -1);
  const target = readTarget(reading, of);
  if (!target) return undefined;
  const list = skipCount(tokens.slice(into + 1));
  if (list.length === 0 || (list.length === 1 && readNumber(word(list, 0)) !== undefined))
    return { does: 'doubt', text: INTO_WHICH };
  const tasks = readSeveral(reading, list);
  return subtasks(target.target, tasks);
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

/** `TITLE to TARGET`, perhaps with `, due Friday, for Mia` behind it. */
function readAdded(reading: Reading, tokens: readonly Token[], isOne: boolean): BareClause | undefined {
  const cut = (part: readonly Token[]) => {
    const to = indexOfPreposition(part, 1, true);
    const read = to > 0 ? readTarget(reading, part.slice(to + 1)) : undefined;
    return read && { title: part.slice(0, to), of: read.target, isKnown: read.isKnown, given: {} as Given };
  };
  const whole = cut(tokens);
  const { head, given } = takeModifiers(reading, tokens);
  // A target with `checklist` in its name was taken as the parent already.
  const inner = given.parent ? { title: head, of: given.parent } : cut(head);
  // A name that is known is meant as a whole.
  const found = whole?.isKnown ? whole : inner && { ...inner, given };
  if (!found) return undefined;
  const list = skipColon(skip(found.title, 'called|named|titled'));
  const { project: _project, parent: _parent, related: _related, ...behind } = found.given;
  const several = isOne ? oneOf(readNewTask(reading, list)) : readSeveral(reading, list);
  if (!several) return undefined;
  const isGiven = Object.keys(behind).length > 0;
  const tasks = isGiven ? several.tasks.map((task) => ({ ...task, ...behind })) : several.tasks;
  return subtasks(found.of, { tasks, isOpen: several.isOpen || (isGiven && tasks.length > 1) });
}
const oneOf = (task: NewTask | undefined): Several | undefined => task && { tasks: [task], isOpen: false };

/** `add a subtask TITLE to TARGET`, `add subtasks to TARGET: LIST`, `TARGET needs subtasks: LIST` */
export function readSubtasks(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
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
      return target && subtasks(target.target, tasks);
    }
    const one = ['subtask', 'sub-task'].includes(word(tokens, at));
    return readAdded(reading, rest, one);
  }
  const has = tokens.findIndex((token) => ['needs', 'has', 'gets', 'consists'].includes(getWord(token)));
  const target = has > 0 && has < at && colon > at ? readTarget(reading, tokens.slice(0, has)) : undefined;
  const tasks = target?.isKnown ? readSeveral(reading, tokens.slice(colon + 1)) : undefined;
  return target && subtasks(target.target, tasks);
}
