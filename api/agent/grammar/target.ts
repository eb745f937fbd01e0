import type { Target } from './clauses.js';
import type { Token, Tokenized } from './tokens.js';
import { NOUNS, stateAtEnd, startsWith, getWord } from './words.js';

const PRONOUNS = new Set(['this', 'it', 'that']);

/** `all [the|linked] [STATE] [linked] tasks` */
function readAll(tokens: readonly Token[]): Target | undefined {
  if (getWord(tokens[0]) !== 'all' || getWord(tokens.at(-1)) !== 'tasks') return undefined;
  let between = tokens.slice(1, -1);
  if (startsWith(between, 'the')) between = between.slice(1);
  if (startsWith(between, 'linked')) between = between.slice(1);
  else if (getWord(between.at(-1)) === 'linked') between = between.slice(0, -1);
  if (between.length === 0) return { kind: 'all', status: null };
  const state = stateAtEnd(between);
  return state?.length === between.length ? { kind: 'all', status: state.status } : undefined;
}

/** Reads the one item, or the group, that tokens name. Words around a name make it another name, which no item has. */
export function readTarget({ names, written }: Tokenized, tokens: readonly Token[]): Target | undefined {
  const [first] = tokens;
  const last = tokens.at(-1);
  if (!first || !last) return undefined;
  const text = written(first.start, last.end);
  let rest = tokens;
  if (rest.length > 1 && startsWith(rest, 'the')) rest = rest.slice(1);
  if (rest.length > 1 && rest[0]?.kind === 'word' && NOUNS.has(rest[0].text)) rest = rest.slice(1);
  const [only] = rest;
  if (rest.length === 1 && only?.kind === 'item') return { kind: 'named', items: only.items, written: text };
  if (rest.length === 1 && only?.kind === 'string') {
    const items = names.find(only.value);
    return items.length > 0 ? { kind: 'named', items, written: only.value } : { kind: 'unknown', written: only.value };
  }
  if (PRONOUNS.has(getWord(tokens[0])) && (tokens.length === 1 || (tokens.length === 2 && getWord(tokens[1]) === 'task')))
    return { kind: 'it' };
  return readAll(tokens) ?? { kind: 'unknown', written: text };
}
