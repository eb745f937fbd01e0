import { WordIndex } from './match.js';
import type { PeopleIndex } from './people.js';
import type { LinkedItem, Token, Tokenized } from './tokens.js';
import { getWord } from './words.js';

/** What reading a message needs besides its tokens. */
export interface Reading {
  message: Tokenized;
  /** Linked items by the words of their titles. */
  index: WordIndex<LinkedItem>;
  people: PeopleIndex;
  /** Names of the members that `he` or `she` can mean here. */
  persons: readonly string[];
  /** Whether the clause ends with a question mark. */
  isAsked: boolean;
  /** YYYY-MM-DD where the person is. */
  today: string;
}

/** Prepares the reading of a message. */
export const openReading = (message: Tokenized, items: readonly LinkedItem[], people: PeopleIndex, today: string): Reading => ({
  message,
  index: new WordIndex(items),
  people,
  persons: [],
  isAsked: false,
  today,
});

/** The words of tokens: a linked title counts as its words, a comma as none, and what is no word as an empty one. */
export function wordsOf(tokens: readonly Token[]): string[] {
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'item') words.push(...token.text.split(' '));
    else if (token.kind !== 'comma') words.push(getWord(token));
  }
  return words;
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
