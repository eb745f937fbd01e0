import type { CycleName } from '../terms.js';
import type { Token } from '../tokens.js';
import { ASKING, CONNECTING, getWord, STATING, VERBS } from '../words.js';

/** The words for a cycle; teams call other things releases and milestones too. */
const NOUNS: ReadonlySet<string> = new Set(/sprint|cycle|iteration|release|milestone/.source.split('|'));
const MAYBE = new Set(['release', 'milestone']);
const WHEN: Readonly<Record<string, CycleName['when']>> = {
  current: 'active',
  running: 'active',
  active: 'active',
  present: 'active',
  ongoing: 'active',
  next: 'planned',
  coming: 'planned',
  upcoming: 'planned',
  following: 'planned',
  last: 'completed',
  previous: 'completed',
  past: 'completed',
};
const DETERMINERS = new Set(['the', 'this', 'our', 'a', 'that']);
const MAX_WORDS = 6;
const MAX_NAME = 3;
/** Words of a sentence around a cycle, which are no part of its name. */
const AROUND = new Set([
  ...CONNECTING,
  ...STATING,
  ...ASKING,
  ...VERBS,
  ...NOUNS,
  ...'we i you they it be been going doing looking progressing coming end ends ended over starts begins done finished ready track time left today tomorrow yesterday now this that next last week month far so about'.split(
    ' ',
  ),
]);
const isName = (words: readonly string[]): boolean =>
  words.length > 0 && words.length <= MAX_NAME && !words.some((word) => AROUND.has(word));

/** Reads `the sprint`, `Sprint 12`, `the next cycle`, `the launch sprint`, `the cycle called “Launch”`. */
export function readCycleName(tokens: readonly Token[]): CycleName | undefined {
  const quoted = tokens.at(-1);
  const hasQuote = quoted?.kind === 'string';
  const plain = hasQuote ? tokens.slice(0, -1) : tokens;
  if (plain.length > MAX_WORDS || plain.some(({ kind }) => kind !== 'word')) return undefined;
  let words = plain.map(getWord).filter((word) => !['called', 'named'].includes(word));
  if (DETERMINERS.has(words[0] ?? '')) words = words.slice(1);
  const noun = words.find((word) => NOUNS.has(word));
  if (noun === undefined) return undefined;
  const isSure = !MAYBE.has(noun);
  if (hasQuote) return { when: 'active', names: [quoted.value.toLowerCase()], written: quoted.value, isSure };
  const when = Object.hasOwn(WHEN, words[0] ?? '') ? WHEN[words[0] as string] : undefined;
  const rest = when ? words.slice(1) : words;
  const written = words.join(' ');
  if (rest.length === 1 && rest[0] === noun) return { when: when ?? 'active', names: [], written, isSure };
  const isFirst = rest[0] === noun;
  const name = isFirst ? rest.slice(1) : rest.slice(0, -1);
  if (when || (!isFirst && rest.at(-1) !== noun) || !isName(name)) return undefined;
  // `sprint 12`, `cycle alpha`: several words behind it are a name only with a number.
  if (isFirst && name.length > 1 && !name.some((word) => /\d/.test(word))) return undefined;
  const own = name.join(' ');
  return { when: 'active', names: [...new Set([rest.join(' '), own])], written, isSure };
}
