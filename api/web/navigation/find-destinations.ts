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
}

const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Returns those of which every word of the query begins a word, those that match by their label first. */
export function matching<T extends Pick<Action, 'label' | 'words'>>(query: string, all: readonly T[]): T[] {
  const wanted = wordsIn(query);
  const holds = (text: string): boolean => {
    const words = wordsIn(text);
    return wanted.every((part) => words.some((word) => word.startsWith(part)));
  };
  const [byLabel, others] = [all.filter(({ label }) => holds(label)), all.filter(({ label }) => !holds(label))];
  return [...byLabel, ...others.filter(({ label, words = '' }) => holds(`${label} ${words}`))];
}

/** Returns the pages and the actions that a user may open and that match a query, the first six of each; all match an empty query. */
export function findDestinations(me: User, query: string): { pages: Destination[]; actions: Destination[] } {
  return {
    pages: matching(query, placesOf(me)).slice(0, MAX_SHOWN),
    actions: matching(query, actionsOf(me)).slice(0, MAX_SHOWN),
  };
}
