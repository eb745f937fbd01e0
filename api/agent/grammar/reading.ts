import type { Beyond } from './beyond.js';
import { indexSets, WordIndex } from './match.js';
import { NO_OWN_WORDS, type OwnWords } from './sets/own-words.js';
import type { PeopleIndex } from './people.js';
import type { LinkedItem, NamedItem, Token, Tokenized } from './tokens.js';
import { getWord, innerWords } from './words.js';

/** What reading a message needs besides its tokens. */
export interface Reading {
  message: Tokenized;
  /** Linked items by the words of their titles. */
  index: WordIndex<LinkedItem>;
  /** Tags and projects of linked tasks by their words: each names a set of tasks. */
  sets: WordIndex<{ title: string }>;
  /** Whether a linked task, or one of a linked project, has a tag. */
  isTag: (word: string) => boolean;
  /** What the teams name themselves. */
  own: OwnWords;
  people: PeopleIndex;
  /** Names of the members that `he` or `she` can mean here. */
  persons: readonly string[];
  /** Whether the clause ends with a question mark. */
  isAsked: boolean;
  /** YYYY-MM-DD where the person is. */
  today: string;
  /** What is not linked, as far as it was looked up. */
  beyond?: Beyond | undefined;
  /** The tasks that the answer before lists, in its order; absent where it lists none, or not all. */
  listed?: readonly NamedItem[];
}

/** What is linked, who may be named, and the day where the person is, YYYY-MM-DD. */
export interface Readers {
  items: readonly LinkedItem[];
  people: PeopleIndex;
  today: string;
  own?: OwnWords;
  beyond?: Beyond;
}

/**
 * Adds to a title with words of a sentence around it the items that the words inside mean: where `website into` and `new website` are
 * linked, `put the website into review` is a question.
 */
function withRivals(tokens: readonly Token[], items: readonly LinkedItem[]): Token[] {
  const rivals = new Map<string, readonly LinkedItem[]>();
  return tokens.map((token) => {
    if (token.kind !== 'item') return token;
    let found = rivals.get(token.text);
    if (!found) {
      const inner = innerWords(token.text.split(' '));
      const isWhole = inner.length === token.text.split(' ').length;
      found = isWhole ? [] : new WordIndex(items.filter((item) => !token.items.includes(item))).find(inner);
      rivals.set(token.text, found);
    }
    return found.length === 0 ? token : { ...token, items: [...token.items, ...found] };
  });
}

/** Tells whether tasks have a tag; they are looked through once, if at all. */
function tagReader(items: () => readonly LinkedItem[]): Reading['isTag'] {
  let tags: ReadonlySet<string> | undefined;
  return (word) => (tags ??= new Set(items().flatMap((item) => item.tags?.map((tag) => tag.toLowerCase()) ?? []))).has(word);
}

/** Prepares the reading of a message. */
export function openReading(message: Tokenized, { items, people, today, own = NO_OWN_WORDS, beyond }: Readers): Reading {
  const index = new WordIndex(items);
  return {
    message: { ...message, tokens: withRivals(message.tokens, items) },
    index,
    sets: indexSets(items),
    isTag: tagReader(() => [...items, ...(beyond?.coveredTasks?.items ?? [])]),
    own,
    people,
    persons: [],
    isAsked: false,
    today,
    beyond,
  };
}

/** The words of tokens: a linked title counts as its words, a comma as none, and what is no word as an empty one. */
export function wordsOf(tokens: readonly Token[]): string[] {
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'item') words.push(...token.text.split(' '));
    else if (token.kind !== 'comma') words.push(getWord(token));
  }
  return words;
}

/** The words of tokens, of which a comma before an `or` is another one: `urgent, overdue or unassigned`. */
export function wordsOfChoice(tokens: readonly Token[]): string[] {
  const last = tokens.findLastIndex((token) => getWord(token) === 'or');
  const words = tokens.flatMap((token, at) => (token.kind === 'comma' && at < last ? ['or'] : wordsOf([token])));
  return words.filter((word, at) => !(word === 'or' && words[at - 1] === 'or'));
}

/** What was written from the first to the last of these tokens. */
export function writtenOf({ message }: Reading, tokens: readonly Token[]): string {
  const [first] = tokens;
  const last = tokens.at(-1);
  return first && last ? message.written(first.start, last.end) : '';
}

/** Whether a token separates the entries of a list, or clauses. */
export const isSoft = (token: Token | undefined): boolean =>
  token?.kind === 'comma' ||
  (token?.kind === 'word' && (token.text === 'and' || token.text === 'then')) ||
  (token?.kind === 'mark' && token.text === '&');

/** The entries between commas and `and`, without empty ones. */
export function splitList(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (isSoft(token)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}
