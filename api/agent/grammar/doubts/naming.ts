import type { LinkedItem } from '../tokens.js';

/** How texts name items, and quote what was written. */

const SHOWN = 80;
/** A short quotation of what the person wrote. */
export const quote = (text: string): string => `“${text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()}…` : text}”`;
/** A title with the number of its task, if it has one. */
export const calledBy = ({ title, key }: { title: string; key?: string | null }): string =>
  `${quote(title)}${key == null ? '' : ` (${key})`}`;
/** An item as people call it: by its title and, of a task, its number. */
export const named = ({ type, title, key, project_title, isLinked }: LinkedItem): string =>
  `the ${type} ${quote(title)}${project_title == null || isLinked !== false ? '' : ` in ${quote(project_title)}`}${key == null ? '' : ` (${key})`}`;
/** Names of items that differ: those that are called the same have their ids. */
export const namedApart = (items: readonly LinkedItem[]): string[] =>
  items.map((item) =>
    items.some((each) => each !== item && named(each) === named(item)) ? `${named(item)} (${item.id})` : named(item),
  );
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Joins words as in a sentence; at most five of them. */
export function list(words: readonly string[], link: string): string {
  const shown = words.length > 5 ? [...words.slice(0, 4), `${words.length - 4} others`] : words;
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} ${link} ${shown.at(-1)}`;
}
