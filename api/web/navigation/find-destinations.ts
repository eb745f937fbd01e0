import type { User } from '../../identity/auth/schema.js';
import type { IconName } from '../icons.js';
import { type Action, actionsOf } from './actions.js';
import { placesOf } from './places.js';

/** Destinations of one kind that are shown at once. */
const MAX_SHOWN = 6;

interface Destination {
  label: string;
  path: string;
  icon: IconName;
  /** The query names it by its own words. */
  isNamed: boolean;
}

/** Returns the words of a text in lower case. */
export const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Returns whether every word of a query begins a word of the text. */
export function isNamed(query: string, text: string): boolean {
  const words = wordsIn(text);
  return wordsIn(query).every((part) => words.some((word) => word.startsWith(part)));
}

/** Returns those that a query names by their label, and then those that it names by other words too. */
export function matching<T extends Pick<Action, 'label' | 'words'>>(query: string, all: readonly T[]): T[] {
  const byLabel = new Set(all.filter(({ label }) => isNamed(query, label)));
  const others = all.filter((one) => !byLabel.has(one));
  return [...byLabel, ...others.filter(({ label, words = '' }) => isNamed(query, `${label} ${words}`))];
}

/** What people write before the name of a page. */
const GOES_TO = /^\s*(?:go to|open|show)\s+(?=\S)/i;

/** Returns the pages and the actions that a user may open and that match a query, the first six of each; all match an empty query. */
export function findDestinations(me: User, query: string): { pages: Destination[]; actions: Destination[] } {
  const find = (all: readonly Action[], words: string) =>
    matching(words, all)
      .slice(0, MAX_SHOWN)
      .map((one) => ({ ...one, isNamed: isNamed(words, one.label) }));
  return { pages: find(placesOf(me), query.replace(GOES_TO, '')), actions: find(actionsOf(me), query) };
}
