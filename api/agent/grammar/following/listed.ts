import type { Target } from '../clauses.js';
import type { Reading } from '../reading.js';
import type { LinkedItem, NamedItem } from '../tokens.js';

const ORDINALS = ['first|1st|former', 'second|2nd|latter', 'third|3rd', 'fourth|4th', 'fifth|5th'];
/** Places in a list, by the words for them. */
export const PLACES = new Map(ORDINALS.flatMap((words, at) => words.split('|').map((word) => [word, at] as const)));
const THEM = /^(?:(?:all|both)(?: of)? )?(?:them|these|those|they)(?: all| both)?$|^(?:both|all)$/;
const PLACE = /^(?:the |number )?(\w+)(?: one| task)?$/;
const FIRST_FEW = /^the first (two|three|2|3)(?: ones| tasks)?$/;
const COUNTS: Readonly<Record<string, number>> = { two: 2, 2: 2, three: 3, 3: 3 };

/** An item by its id: linked, or looked up. */
export function itemOf({ message, beyond }: Reading, { id }: NamedItem): LinkedItem | undefined {
  const known = message.names.find(id)[0];
  if (known || !beyond) return known;
  beyond.want([id]);
  return beyond.byId(id);
}

/** Which of the listed tasks words mean: `them`, `the second one`, `the first two`, `the last one`. */
function meantBy(words: string, listed: readonly NamedItem[]): readonly NamedItem[] {
  if (THEM.test(words)) return words.startsWith('both') && listed.length !== 2 ? [] : listed;
  const few = COUNTS[FIRST_FEW.exec(words)?.[1] ?? ''];
  if (few !== undefined) return listed.length >= few ? listed.slice(0, few) : [];
  const word = PLACE.exec(words)?.[1] ?? '';
  if (word === 'last') return listed.slice(-1);
  const place = PLACES.get(word);
  return place === undefined ? [] : listed.slice(place, place + 1);
}

/** Reads what the answer before lists; undefined where it lists nothing of that kind. */
export function readListed(reading: Reading, words: readonly string[]): Target | undefined {
  const { listed = [] } = reading;
  if (listed.length === 0 || words.length > 4) return undefined;
  const written = words.join(' ');
  const meant = meantBy(written, listed);
  const items = meant.flatMap((each) => itemOf(reading, each) ?? []);
  if (meant.length === 0 || items.length < meant.length) return undefined;
  const targets = items.map((item): Target => ({ kind: 'named', items: [item], written }));
  return targets.length === 1 ? targets[0] : { kind: 'list', targets };
}
