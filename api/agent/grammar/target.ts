import type { Target } from './clauses.js';
import { withWords } from './filter.js';
import { readListed } from './following/listed.js';
import { readPerson } from './referents.js';
import { alternativesOf, readSet } from './sets/any-of.js';
import { isSoft, type Reading, splitList, wordsOf, wordsOfChoice, writtenOf } from './reading.js';
import type { LinkedItem, Token } from './tokens.js';
import type { TaskFilter } from './terms.js';
import { getWord, isPriorityWord, NOUNS, PLURALS } from './words.js';

/** A target, and whether something linked is known by it. */
export interface ReadTarget {
  target: Target;
  isKnown: boolean;
}

const IT = new Set(['it', 'this', 'that']);
const THEM = new Set(['them', 'these', 'those', 'they', 'both']);
const EVERY = new Set(['all', 'every', 'each', 'everything', 'anything', 'whatever', 'any', 'everyone', 'both']);
/** Words that are all tasks only with a word of which. */
const VAGUE = new Set(['anything', 'whatever', 'any', 'everyone']);
/** Words for some of several: which ones, only the person knows. */
const PARTIAL = new Set('one some any few several most half two three four five many none first last oldest newest'.split(' '));
const MY = new Set(['my', 'our']);
const TYPES: ReadonlySet<string> = new Set<LinkedItem['type']>(['task', 'project', 'note', 'idea', 'file', 'whiteboard']);
const MAX_LISTED = 50;

const REST = /^(?:all )?(?:of )?the (?:rest|others|other (?:ones|tasks)|remaining ones)(?: of (?:them|it|the tasks))?$/;

/** `it`, `this task`, `the task`; `them`, `these tasks`, `both of them`. */
function readPronoun(words: readonly string[]): Target | undefined {
  const [first = '', second, third] = words;
  const isAlone = second === undefined;
  if (IT.has(first) && (isAlone || (third === undefined && (NOUNS.has(second) || second === 'one')))) return { kind: 'it' };
  if (first === 'the' && third === undefined && (second === 'task' || second === 'ticket' || second === 'issue'))
    return { kind: 'it' };
  const rest = first === 'all' || first === 'both' ? words.slice(second === 'of' ? 2 : 1) : words;
  const both = first === 'both';
  if (both && rest.length === 0) return { kind: 'them', both };
  const [pronoun = '', noun] = rest;
  const hasNoun = noun !== undefined && PLURALS.has(noun);
  if (THEM.has(pronoun) && (rest.length === 1 || (rest.length === 2 && hasNoun))) return { kind: 'them', both };
  if (both && rest.length === 1 && PLURALS.has(pronoun)) return { kind: 'them', both };
  return undefined;
}

/** Returns the place of `except` and the like; -1 for none. */
const findExcept = (tokens: readonly Token[]): number =>
  tokens.findIndex(
    (token, at) =>
      at > 0 &&
      (['except', 'excluding', 'but'].includes(getWord(token)) ||
        (getWord(token) === 'apart' && getWord(tokens[at + 1]) === 'from')),
  );

/** `all|every|… FILTER`, `my tasks`, `the overdue tasks`, each perhaps `except TARGET`. */
function readAll(reading: Reading, tokens: readonly Token[]): Target | undefined {
  const cut = findExcept(tokens);
  const head = cut < 0 ? tokens : tokens.slice(0, cut);
  const words = wordsOfChoice(head);
  const [first = ''] = words;
  if (words.length > 24 || head.some(({ kind }) => kind === 'string')) return undefined;
  if (words.some((word, at) => word === 'of' && PARTIAL.has(words[at - 1] ?? ''))) return undefined;
  const isPlural = words.some((word) => PLURALS.has(word));
  if (!EVERY.has(first) && !isPlural) return undefined;
  const { filter, rest } = readSet(MY.has(first) && first === 'our' ? words.slice(1) : words, reading);
  const named = withWords(filter, rest);
  // Words that no linked title, tag or project has are no part of a filter.
  const isTitle = () =>
    reading.index.find(rest).length > 0 || reading.sets.find(rest).length > 0 || reading.beyond?.covers(rest) === true;
  if (!named || (rest.length > 0 && !isTitle())) return undefined;
  // `the jobs` alone names nothing, `all jobs` does.
  if ((!EVERY.has(first) || VAGUE.has(first)) && Object.keys(named).length === 0) return undefined;
  const all = {
    kind: 'all',
    filter: named,
    written: writtenOf(reading, tokens),
    ...(first === 'both' && { both: true as const }),
  } as const;
  if (cut < 0) return all;
  const behind = tokens.slice(cut + (['apart'].includes(getWord(tokens[cut])) || getWord(tokens[cut + 1]) === 'for' ? 2 : 1));
  const except = readTarget(reading, behind);
  return except?.isKnown ? { ...all, except: except.target } : undefined;
}

const MAX_BARE = 6;
/** Facts that name a set without a noun: `move unassigned to Mia`. A state does not, because it may be what shall be. */
const isTelling = ({ isOverdue, isBlocked, hasNoDueDate, assignee, priorities }: TaskFilter): boolean =>
  isOverdue === true || isBlocked === true || hasNoDueDate === true || assignee?.kind === 'nobody' || priorities !== undefined;

/** `overdue`, `unassigned and urgent`: nothing but facts, which no title has. */
function readBareSet(reading: Reading, tokens: readonly Token[]): Target | undefined {
  if (tokens.length > 2 * MAX_BARE) return undefined;
  const words = wordsOfChoice(tokens);
  if (words.length > MAX_BARE || tokens.some(({ kind }) => kind !== 'word') || words.some(isPriorityWord)) return undefined;
  const { filter, rest } = readSet(words, reading);
  if (rest.length > 0 || !alternativesOf(filter).every(isTelling)) return undefined;
  const isTitle = reading.index.find(words).length > 0 || reading.beyond?.covers(words) === true;
  return isTitle ? undefined : { kind: 'all', filter, written: writtenOf(reading, tokens) };
}

const hasType = (items: readonly LinkedItem[], words: readonly string[]): readonly LinkedItem[] => {
  const type = [words[0], words.at(-1)].find((word) => word !== undefined && TYPES.has(word));
  const fitting = type === undefined ? items : items.filter((item) => item.type === type);
  return fitting.length > 0 ? fitting : items;
};

/** Removes `the`, a kind of item and `called` around a name. */
function bare(tokens: readonly Token[]): readonly Token[] {
  let rest = tokens;
  const isNoun = (token: Token | undefined): boolean => token?.kind === 'word' && NOUNS.has(token.text);
  if (rest.length > 1 && ['the', 'a', 'our', 'my'].includes(getWord(rest[0])) && rest[0]?.kind === 'word') rest = rest.slice(1);
  if (rest.length > 1 && isNoun(rest[0])) rest = rest.slice(1);
  if (rest.length > 1 && ['called', 'named', 'titled'].includes(getWord(rest[0]))) rest = rest.slice(1);
  return rest.length > 1 && isNoun(rest.at(-1)) ? rest.slice(0, -1) : rest;
}

/** Items that are not linked, by words. The name of a member means nothing else. */
const findBeyond = ({ beyond, index, people }: Reading, words: readonly string[]): readonly LinkedItem[] =>
  beyond && !words.includes('') && !people.read(words)?.isKnown ? beyond.find(words, index) : [];

/** `Bo's invoices`: what words mean, of what a member has. */
function readOwned(reading: Reading, tokens: readonly Token[], written: string): ReadTarget | undefined {
  const at = tokens.findIndex((token) => getWord(token) === "'s");
  const owner = at > 0 && at <= 3 ? readPerson(reading, wordsOf(tokens.slice(0, at))) : undefined;
  if (!owner?.isKnown || owner.to.kind !== 'name' || at === tokens.length - 1) return undefined;
  const ids = reading.people.find(owner.to.name);
  const read = readName(reading, tokens.slice(at + 1));
  if (read.target.kind !== 'named') return undefined;
  const items = read.target.items.filter(({ assigned_to }) => ids.some((id) => id === assigned_to));
  return items.length > 0 ? { target: { kind: 'named', items, written }, isKnown: true } : undefined;
}

/** One item by its whole title, its id, or the words of its title. */
function readName(reading: Reading, tokens: readonly Token[]): ReadTarget {
  const written = writtenOf(reading, tokens);
  const rest = bare(tokens);
  const [only] = rest;
  const around = wordsOf(tokens.filter((token) => token !== only));
  if (rest.length === 1 && only?.kind === 'item')
    return { target: { kind: 'named', items: hasType(only.items, around), written }, isKnown: true };
  const isString = rest.length === 1 && only?.kind === 'string';
  if (isString) {
    const items = reading.message.names.find(only.value);
    if (items.length > 0) return { target: { kind: 'named', items: hasType(items, around), written: only.value }, isKnown: true };
  }
  const words = isString ? only.value.toLowerCase().split(/[\s,.;:!?]+/) : wordsOf(tokens);
  const found =
    tokens.some(({ kind }) => kind === 'string') && !isString ? [] : hasType(reading.index.find(words), wordsOf(tokens));
  if (found.length > 0) return { target: { kind: 'named', items: found, written }, isKnown: true };
  const beyond =
    tokens.some(({ kind }) => kind === 'string') && !isString ? [] : findBeyond(reading, isString ? words : wordsOf(rest));
  if (beyond.length > 0) return { target: { kind: 'named', items: hasType(beyond, around), written }, isKnown: true };
  const owned = readOwned(reading, tokens, written);
  if (owned) return owned;
  const name = isString ? only.value : writtenOf(reading, rest);
  const names = isString ? [words] : splitList(tokens).map((part) => wordsOf(bare(part)));
  return { target: { kind: 'unknown', written: name, near: reading.index.near(words).slice(0, 4), names }, isKnown: false };
}

/** Reads the items that tokens name; undefined for none. */
export function readTarget(reading: Reading, tokens: readonly Token[]): ReadTarget | undefined {
  if (tokens.length === 0) return undefined;
  const [first] = tokens;
  const isOneToken = tokens.length === 1;
  if (!(isOneToken && first?.kind !== 'word')) {
    const listed = tokens.length <= 4 ? readListed(reading, wordsOf(tokens)) : undefined;
    if (listed) return { target: listed, isKnown: true };
    const pronoun = readPronoun(tokens.length <= 4 ? wordsOf(tokens) : []);
    if (pronoun) return { target: pronoun, isKnown: true };
    const rest = tokens.length <= 6 && REST.test(wordsOf(tokens).join(' '));
    if (rest) return { target: { kind: 'rest', written: writtenOf(reading, tokens) }, isKnown: true };
    const bareSet = readBareSet(reading, tokens);
    if (bareSet) return { target: bareSet, isKnown: true };
    // What is excepted may be a list: the list is no list of targets then.
    if (tokens.some(isSoft) && findExcept(tokens) < 0) {
      const parts = splitList(getWord(first) === 'both' ? tokens.slice(1) : tokens);
      const read = parts.length > 1 && parts.length <= MAX_LISTED ? parts.map((part) => readTarget(reading, part)) : [];
      const targets = read.flatMap((each) => (each?.isKnown ? [each.target] : []));
      // `all late ones and urgent`: those of them that are urgent, or those too?
      const isOpen = parts.some((part) => readBareSet(reading, part) !== undefined);
      if (!isOpen && read.length > 0 && targets.length === read.length)
        return { target: { kind: 'list', targets }, isKnown: true };
    }
    const all = readAll(reading, tokens);
    if (all) return { target: all, isKnown: true };
  }
  return readName(reading, tokens);
}
