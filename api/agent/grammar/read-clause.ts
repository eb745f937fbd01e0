import type { Assignee, BareClause, Target } from './clauses.js';
import { PRIORITIES } from './clauses.js';
import { readDate } from './dates.js';
import { foldName } from './fold.js';
import { readTarget } from './target.js';
import type { Token, Tokenized } from './tokens.js';
import { DELETING, SETTING, startsWith, stateAtEnd, VERB_STATUS, getWord } from './words.js';

/** What reading a clause needs besides its tokens. */
export interface ClauseReader {
  message: Tokenized;
  /** YYYY-MM-DD where the person is. */
  today: string;
}

type Read = (reader: ClauseReader, tokens: readonly Token[]) => BareClause | undefined;

const indexOfWord = (tokens: readonly Token[], word: string): number =>
  tokens.findIndex((token) => token.kind === 'word' && token.text === word);

/** A title: a quoted string alone, or all that was written. Undefined if there is more beside a string. */
function getTitle({ message }: ClauseReader, tokens: readonly Token[]): string | undefined {
  const [first] = tokens;
  const last = tokens.at(-1);
  if (!first || !last) return '';
  if (first.kind === 'string') return tokens.length === 1 ? first.value : undefined;
  return message.written(first.start, last.end);
}

/** `(create|add|make) [a|the] [new] task [called|named] TITLE` */
const create: Read = (reader, tokens) => {
  if (!['create', 'add', 'make'].includes(getWord(tokens[0]))) return undefined;
  let rest = tokens.slice(1);
  if (['a', 'the'].includes(getWord(rest[0]))) rest = rest.slice(1);
  if (startsWith(rest, 'new')) rest = rest.slice(1);
  if (rest[0]?.kind !== 'word' || rest[0].text !== 'task') return undefined;
  rest = rest.slice(1);
  if (['called', 'named'].includes(getWord(rest[0]))) rest = rest.slice(1);
  const title = getTitle(reader, rest);
  return title === undefined ? undefined : { does: 'create', title };
};

/** `(set|change|make) [the] (priority | due [date]) (of|for) TARGET to (PRIORITY | DATE)` */
const field: Read = ({ message, today }, tokens) => {
  if (!['set', 'change', 'make'].includes(getWord(tokens[0]))) return undefined;
  let rest = tokens.slice(1);
  if (startsWith(rest, 'the')) rest = rest.slice(1);
  const name = getWord(rest[0]);
  if (name !== 'priority' && name !== 'due') return undefined;
  rest = rest.slice(name === 'due' && startsWith(rest, 'due', 'date') ? 2 : 1);
  const to = rest.findLastIndex((token) => token.kind === 'word' && token.text === 'to');
  if (!['of', 'for'].includes(getWord(rest[0])) || to < 2) return undefined;
  const target = readTarget(message, rest.slice(1, to));
  const words = rest.slice(to + 1).map(getWord);
  if (!target || words.includes('') || words.length === 0) return undefined;
  if (name === 'due') {
    const date = readDate(words, today);
    return date === undefined ? undefined : { does: 'due', target, date };
  }
  const priority = PRIORITIES.find((each) => each === words.join(' '));
  return priority && { does: 'priority', target, priority };
};

const withoutLink = (tokens: readonly Token[], words: readonly string[]): readonly Token[] =>
  tokens.length > 1 && words.includes(getWord(tokens.at(-1))) ? tokens.slice(0, -1) : tokens;

/** `(mark|set|move|change|make) [[the] status of] TARGET [as|to|into] STATE` */
const setStatus: Read = ({ message }, tokens) => {
  if (!SETTING.has(getWord(tokens[0]))) return undefined;
  let rest = tokens.slice(1);
  if (startsWith(rest, 'the', 'status', 'of')) rest = rest.slice(3);
  else if (startsWith(rest, 'status', 'of')) rest = rest.slice(2);
  const state = stateAtEnd(rest);
  if (!state || state.length >= rest.length) return undefined;
  const target = readTarget(message, withoutLink(rest.slice(0, -state.length), ['as', 'to', 'into']));
  return target && { does: 'status', target, status: state.status };
};

/** `(close|complete|finish|resolve|start|begin|reopen) TARGET [(to|as) STATE]` */
const moveStatus: Read = ({ message }, tokens) => {
  const status = VERB_STATUS[getWord(tokens[0])];
  if (!status) return undefined;
  const rest = tokens.slice(1);
  const state = stateAtEnd(rest);
  const before = state && rest.slice(0, -state.length);
  const isLinked = before !== undefined && before.length > 1 && ['to', 'as'].includes(getWord(before.at(-1)));
  const target = readTarget(message, isLinked ? before.slice(0, -1) : rest);
  return target && { does: 'status', target, status: isLinked && state ? state.status : status };
};

function readAssignee({ message }: ClauseReader, tokens: readonly Token[]): Assignee | undefined {
  const [first] = tokens;
  const last = tokens.at(-1);
  if (!first || !last) return undefined;
  const name = first.kind === 'string' && tokens.length === 1 ? first.value : message.written(first.start, last.end);
  const folded = foldName(name.startsWith('@') ? name.slice(1) : name);
  if (folded === 'me') return { kind: 'me' };
  return folded === 'nobody' ? { kind: 'nobody' } : { kind: 'name', name: folded };
}

/** `assign TARGET to (me | nobody | ["@"] NAME)` and `unassign TARGET` */
const assign: Read = (reader, tokens) => {
  const { message } = reader;
  if (startsWith(tokens, 'unassign')) {
    const target = readTarget(message, tokens.slice(1));
    return target && { does: 'assign', target, to: { kind: 'nobody' } };
  }
  const at = indexOfWord(tokens, 'to');
  if (!startsWith(tokens, 'assign') || at < 2) return undefined;
  const target = readTarget(message, tokens.slice(1, at));
  const to = readAssignee(reader, tokens.slice(at + 1));
  return target && to && { does: 'assign', target, to };
};

/** `rename TARGET to TITLE` */
const rename: Read = (reader, tokens) => {
  const at = indexOfWord(tokens, 'to');
  if (!startsWith(tokens, 'rename') || at < 2) return undefined;
  const target = readTarget(reader.message, tokens.slice(1, at));
  const title = getTitle(reader, tokens.slice(at + 1));
  return target && title !== undefined ? { does: 'rename', target, title } : undefined;
};

/** `(delete|remove|trash) TARGET` */
const remove: Read = ({ message }, tokens) => {
  const target = DELETING.has(getWord(tokens[0])) ? readTarget(message, tokens.slice(1)) : undefined;
  return target && { does: 'delete', target };
};

const RELATIONS = [
  { words: ['is', 'blocked', 'by'], type: 'blocks', reversed: true },
  { words: ['is', 'related', 'to'], type: 'related_to', reversed: false },
  { words: ['relates', 'to'], type: 'related_to', reversed: false },
  { words: ['blocks'], type: 'blocks', reversed: false },
] as const;

const isKnown = (target: Target): boolean => target.kind !== 'unknown';

/** `TARGET (blocks | is blocked by | relates to | is related to) TARGET`; one of both must be known, for any sentence may hold such words. */
const relate: Read = ({ message }, tokens) => {
  for (const { words, type, reversed } of RELATIONS) {
    const at = tokens.findIndex(
      (token, i) => i > 0 && token.kind === 'word' && words.every((word, j) => getWord(tokens[i + j]) === word),
    );
    const left = at > 0 ? readTarget(message, tokens.slice(0, at)) : undefined;
    const right = at > 0 ? readTarget(message, tokens.slice(at + words.length)) : undefined;
    if (!left || !right || !(isKnown(left) || isKnown(right))) continue;
    return reversed
      ? { does: 'relate', source: right, target: left, type }
      : { does: 'relate', source: left, target: right, type };
  }
  return undefined;
};

const FORMS: readonly Read[] = [create, field, setStatus, moveStatus, assign, rename, remove, relate];

/** Reads one clause: the first form that all of its tokens fit. */
export function readClause(reader: ClauseReader, tokens: readonly Token[]): BareClause {
  for (const form of FORMS) {
    const clause = form(reader, tokens);
    if (clause) return clause;
  }
  return { does: 'unclear' };
}
