import type { PeopleIndex } from './people.js';
import { isSoft, type Reading } from './reading.js';
import type { Assignee } from './terms.js';
import type { Token } from './tokens.js';
import { STATING, getWord, VERBS } from './words.js';

/** Pronouns of one person, by their kind. */
const PRONOUNS: ReadonlyMap<string, 'he' | 'she'> = new Map([
  ['he', 'he'],
  ['him', 'he'],
  ['his', 'he'],
  ['she', 'she'],
  ['her', 'she'],
  ['hers', 'she'],
]);
/** Whether a word means a person who was named before. */
export const isPersonal = (word: string): boolean => PRONOUNS.has(word);

const MAX_NAME = 3;
/** Names that are words of their own: `Mark`, `Will`, `May`. */
const isWord = (word: string): boolean => VERBS.has(word) || ['will', 'may', 'can', 'art', 'grant'].includes(word);

/** A member who is named somewhere in a message. */
export interface Mention {
  /** Index of the first token, and of the one behind the name. */
  at: number;
  end: number;
  name: string;
}

const isBorder = (token: Token | undefined): boolean =>
  token === undefined || isSoft(token) || ['newline', 'semicolon', 'stop', 'colon'].includes(token.kind);

/** Finds the members that a message names, front to back. */
export function findMentions(tokens: readonly Token[], people: PeopleIndex): Mention[] {
  const found: Mention[] = [];
  for (let at = 0; at < tokens.length; ) {
    const name = nameAt(tokens, at, people);
    if (name) found.push(name);
    at = name?.end ?? at + 1;
  }
  return found;
}

function nameAt(tokens: readonly Token[], at: number, people: PeopleIndex): Mention | undefined {
  for (let end = Math.min(tokens.length, at + MAX_NAME); end > at; end -= 1) {
    const words = tokens.slice(at, end).map((token) => (token.kind === 'word' ? token.text : ''));
    const read = words.includes('') ? undefined : people.read(words);
    if (!read?.isKnown || read.to.kind !== 'name') continue;
    // `Mark is ill` names a member, `mark it` does not.
    const [only = ''] = words;
    if (words.length === 1 && isWord(only) && !(isBorder(tokens[at - 1]) && STATING.has(getWord(tokens[end])))) continue;
    return { at, end, name: words.join(' ') };
  }
  return undefined;
}

/**
 * The members that `he` or `she` can mean in a clause that begins at a token: who was named last before it. Two names side by side, or in
 * one clause, leave it open which.
 */
export function lastNamed(tokens: readonly Token[], mentions: readonly Mention[], before: number): string[] {
  const names: string[] = [];
  let from: number | undefined;
  for (const { at, end, name } of mentions.filter((each) => each.end <= before).toReversed()) {
    const between = from === undefined ? [] : tokens.slice(end, from);
    const isSide = between.length > 0 && between.every((token) => isSoft(token) || getWord(token) === 'or');
    if (from !== undefined && !isSide && between.some(isBorder)) break;
    if (!names.includes(name)) names.unshift(name);
    from = at;
  }
  return names;
}

/** Returns whether the sentence that begins at a token has both `he` and `she`, so that one name cannot be meant by both. */
export function hasBothKinds(tokens: readonly Token[], start: number): boolean {
  const kinds = new Set<string>();
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (token.kind === 'newline' || token.kind === 'stop') break;
    const kind = token.kind === 'word' ? PRONOUNS.get(token.text) : undefined;
    if (kind) kinds.add(kind);
  }
  return kinds.size > 1;
}

/** Reads a pronoun as the person who was named last. */
export function readPronounOfPerson(word: string, persons: readonly string[]): Assignee {
  const [name] = persons;
  return persons.length === 1 && name !== undefined ? { kind: 'name', name } : { kind: 'whom', written: word, among: persons };
}

/** Reads words as a person: a name, or a pronoun. `isKnown` tells whether there is one. */
export function readPerson(
  { people, persons }: Pick<Reading, 'people' | 'persons'>,
  words: readonly string[],
): { to: Assignee; isKnown: boolean } | undefined {
  const [only = ''] = words;
  if (words.length === 1 && isPersonal(only)) return { to: readPronounOfPerson(only, persons), isKnown: true };
  return people.read(words);
}
