import { merge, type FilterReader, type ReadWords, readFilter } from '../filter.js';
import type { TaskFilter } from '../terms.js';
import { PLURALS } from '../words.js';

/** Sets that are several: “overdue or urgent”, “tasks of Uma or Mia”. */

const MAX_PARTS = 4;

const splitAt = (words: readonly string[], border: string): string[][] =>
  words.reduce<string[][]>(
    (parts, word) => (word === border ? [...parts, []] : [...parts.slice(0, -1), [...(parts.at(-1) ?? []), word]]),
    [[]],
  );

/** Facts of two parts that both have; undefined if no task can have them. */
const both = (a: TaskFilter, b: TaskFilter): TaskFilter | undefined => (Object.keys(b).length === 0 ? a : merge(a, b));

/**
 * Splits the words around a choice: what stands before “tasks” in the first part, if more follows there, and what stands behind it in the last part is
 * said of all: `open tasks that are overdue or urgent`, `overdue or urgent tasks of Uma`.
 */
function partsOf(words: readonly string[], border: string): { shared: string[][]; parts: string[][] } {
  const parts = splitAt(words, border);
  const [first = [], last = []] = [parts[0], parts.at(-1)];
  const [before, behind] = [first.findIndex((word) => PLURALS.has(word)), last.findIndex((word) => PLURALS.has(word))];
  // Where both have a noun, it is open of which one the rest is said.
  if (before >= 0 && behind >= 0 && parts.length > 1 && behind < last.length - 1) return { shared: [], parts: [] };
  const isBefore = before >= 0 && before < first.length - 1;
  const owner = first.indexOf("'s");
  const head = isBefore ? first.slice(0, before + 1) : owner > 0 && owner < first.length - 1 ? first.slice(0, owner + 1) : [];
  const tail = behind >= 0 && !isBefore ? last.slice(behind) : [];
  const inner = parts.map((part, at) =>
    part.slice(at === 0 ? head.length : 0, at === parts.length - 1 && tail.length > 0 ? behind : undefined),
  );
  return { shared: [head, tail], parts: inner };
}

/** How many facts a filter says; a state belongs to another one. */
const countOf = ({ statuses: _state, ...facts }: TaskFilter): number => Object.keys(facts).length;

/** What each part says alone, and what is said of all; undefined if it is open of which ones a fact is said. */
function ofAll(
  parts: readonly TaskFilter[],
  common: TaskFilter,
): { parts: readonly TaskFilter[]; common: TaskFilter } | undefined {
  const last = parts.at(-1) ?? {};
  if (parts.every(({ assignee }) => assignee !== undefined)) {
    // `tasks of Uma or Mia that are late`
    const { assignee, ...more } = last;
    const all = both(more, common);
    const isPlain = parts.slice(0, -1).every((part) => countOf(part) === 1);
    return all && isPlain ? { parts: [...parts.slice(0, -1), { ...(assignee && { assignee }) }], common: all } : undefined;
  }
  return parts.every((part) => countOf(part) <= 1) ? { parts, common } : undefined;
}

/** Reads words with a choice between facts as the sets of each; undefined if a part says no fact. */
function readParts(words: readonly string[], border: string, reader: FilterReader): ReadWords | undefined {
  const { shared, parts } = partsOf(words, border);
  if (parts.length < 2 || parts.length > MAX_PARTS) return undefined;
  const common = shared.map((part) => readFilter(part, reader));
  const read = parts.map((part) => readFilter(part, reader));
  // `and` is a choice only between persons: no task is of both.
  const isChoice = border === 'or' || read.every(({ filter }) => filter.assignee !== undefined);
  if (!isChoice || read.some(({ filter }) => Object.keys(filter).length === 0)) return undefined;
  const said = common.reduce<TaskFilter | undefined>((all, { filter }) => all && both(all, filter), {});
  const found =
    said &&
    ofAll(
      read.map(({ filter }) => filter),
      said,
    );
  const anyOf = found?.parts.flatMap((filter) => both(filter, found.common) ?? []) ?? [];
  const all = [...common, ...read];
  if (anyOf.length < read.length) return undefined;
  return { filter: { anyOf }, rest: all.flatMap(({ rest }) => rest), hasNoun: all.some(({ hasNoun }) => hasNoun) };
}

/** Reads words as a filter, or as a choice between several. */
export function readSet(words: readonly string[], reader: FilterReader): ReadWords {
  const read = readFilter(words, reader);
  if (!read.rest.includes('or')) return read;
  return readParts(words, words.includes('or') ? 'or' : 'and', reader) ?? read;
}

/** The filters of which one holds for each meant task: each alternative with what is said of all. */
export const alternativesOf = ({ anyOf, ...common }: TaskFilter): readonly TaskFilter[] =>
  anyOf ? anyOf.flatMap((each) => both(each, common) ?? []) : [common];
