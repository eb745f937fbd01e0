import type { BareClause, Target } from '../clauses.js';
import { openOnly, readFilter } from '../filter.js';
import { phraseStems, WordIndex } from '../match.js';
import { type Reading, wordsOf, writtenOf } from '../reading.js';
import { isMeant } from '../sets/is-meant.js';
import type { LinkedItem, NamedItem, Token } from '../tokens.js';
import { itemOf, PLACES as LISTED_PLACES } from './listed.js';
import { targetsIn, withTargets } from './targets.js';

/** Answers to “which one do you mean?”: “the second one”, “both”, “the wheels”, “yes”. */

const NUMBERS = ['1|one', '2|two', '3|three', '4|four', '5|five'];
const PLACES = new Map([
  ...LISTED_PLACES,
  ...NUMBERS.flatMap((words, at) => words.split('|').map((word) => [word, at] as const)),
]);
const AROUND = new Set('the one ones number no # task please i mean meant that'.split(' '));
const ALL = new Set([
  'both',
  'both of them',
  'all',
  'all of them',
  'all of these',
  'them all',
  'each of them',
  'everything',
  'all three',
  'all four',
]);
const YES = new Set([
  'yes',
  'yeah',
  'yep',
  'yes please',
  'right',
  'exactly',
  'correct',
  'sure',
  'that one',
  'yes that one',
  'this one',
  'i do',
  'yes i do',
  'yes i mean that',
]);
const MAX_WORDS = 8;

/** Which of the named items words choose; empty for none. */
function chosen(
  reading: Reading,
  tokens: readonly Token[],
  named: readonly NamedItem[],
  open: readonly LinkedItem[],
): readonly NamedItem[] {
  const said = wordsOf(tokens);
  if (said.length === 0 || said.length > MAX_WORDS) return [];
  const words = said.filter((word, at) => !(at === 0 && word === 'no') && word !== '');
  const all = words.join(' ');
  if (ALL.has(all)) return (all.startsWith('both') && named.length !== 2) || named.length < 2 ? [] : named;
  if (YES.has(all)) return named.length === 1 ? named : [];
  const telling = words.filter((word) => !AROUND.has(word));
  const [only = '', ...others] = telling.length > 0 ? telling : words.filter((word) => word === 'one');
  if (others.length === 0 && only === 'last') return named.slice(-1);
  // `1` and `one` are numbers here, `the one` is a pronoun.
  const place = others.length === 0 && telling.length > 0 ? PLACES.get(only) : undefined;
  if (place !== undefined) return named.slice(place, place + 1);
  const [exact] = tokens.length === 1 && tokens[0]?.kind === 'item' ? [tokens[0].items] : [[]];
  const byName = named.filter(({ id }) => exact.some((item) => item.id === id));
  if (byName.length > 0) return byName;
  const byKey = open.filter(({ key, id }) => telling.length === 1 && (key?.toLowerCase() === only || id === only));
  if (byKey.length > 0) return named.filter(({ id }) => byKey.some((item) => item.id === id));
  const byWords = new WordIndex(named).find(telling);
  return byWords.length > 0 ? byWords : byFacts(reading, telling, named, open);
}

/** The named items that have some facts: `the urgent one`, `Bo's`. */
function byFacts(
  reading: Reading,
  words: readonly string[],
  named: readonly NamedItem[],
  open: readonly LinkedItem[],
): readonly NamedItem[] {
  const { filter, rest } = readFilter(words, reading);
  if (rest.length > 0 || Object.keys(filter).length === 0) return [];
  const { assignee } = filter;
  const people = assignee?.kind === 'name' ? reading.people.find(assignee.name) : assignee?.kind === 'nobody' ? [null] : [];
  const fitting = open.filter((item) => isMeant(item, filter, people, reading.today));
  return named.filter(({ id }) => fitting.some((item) => item.id === id));
}

/** The items among which a target leaves the choice. */
const choicesOf = (target: Target): readonly LinkedItem[] => {
  if (target.kind === 'named') return target.items.length > 1 ? target.items : [];
  if (target.kind === 'list') return target.targets.map(choicesOf).find((items) => items.length > 0) ?? [];
  return target.kind === 'unknown' ? target.near : [];
};
const isOpen = (target: Target): boolean =>
  target.kind === 'unknown' ||
  (target.kind === 'named' ? target.items.length > 1 : target.kind === 'list' && target.targets.some(isOpen));

/** Replaces the first open target in a target. */
const close = (target: Target, by: Target): Target => {
  if (target.kind !== 'list') return isOpen(target) ? by : target;
  const at = target.targets.findIndex(isOpen);
  return { ...target, targets: target.targets.map((each, i) => (i === at ? close(each, by) : each)) };
};

/**
 * Reads the answer to a question of ours that named items, as the clauses before with what they left open.
 * @returns undefined for words that choose none of them
 */
export function readChoice(
  reading: Reading,
  tokens: readonly Token[],
  before: readonly BareClause[],
  named: readonly NamedItem[],
): BareClause[] | undefined {
  const at = before.findIndex((clause) => targetsIn(clause).some(isOpen));
  const target = before[at] && targetsIn(before[at]).find(isOpen);
  const open = target ? choicesOf(target) : [];
  const found = chosen(reading, tokens, named, open);
  if (found.length === 0) return undefined;
  if (!target) return askedAgain(before, found);
  const written = writtenOf(reading, tokens);
  const items = found.flatMap((each) => open.find(({ id }) => id === each.id) ?? itemOf(reading, each) ?? []);
  if (items.length < found.length) return undefined;
  const targets = items.map((item): Target => ({ kind: 'named', items: [item], written }));
  const by: Target = targets.length === 1 ? (targets[0] as Target) : { kind: 'list', targets };
  let isClosed = false;
  return before.map((clause) =>
    withTargets(clause, (each) => {
      if (isClosed || !isOpen(each)) return each;
      isClosed = true;
      return close(each, by);
    }),
  );
}

/** A question whose words no task had, about the one that we offered. */
function askedAgain(before: readonly BareClause[], [one, ...others]: readonly NamedItem[]): BareClause[] | undefined {
  const [clause, ...more] = before;
  if (!one || others.length > 0 || more.length > 0 || clause?.does !== 'ask' || !clause.question.filter.words) return undefined;
  const words = phraseStems(one.title.toLowerCase().split(/[^\p{L}\p{N}]+/u)).distinctive;
  const { statuses: _any, ...filter } = { ...openOnly(clause.question.filter), words, said: words };
  return [{ ...clause, question: { ...clause.question, filter } }];
}
