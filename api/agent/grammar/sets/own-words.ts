import { fold } from '../fold.js';
import type { Found, Status } from '../terms.js';

/** What the teams of a message name themselves. */
export interface OwnWords {
  stages: readonly { name: string; status: Status }[];
  /** Names of the custom fields of tasks. */
  fields: readonly string[];
  /** The choices of those that have some. */
  choices?: readonly Choice[];
}
/** A choice of a custom field: the value that is stored, and its word. */
export interface Choice {
  field: string;
  value: string;
  label: string;
}
export const NO_OWN_WORDS: OwnWords = { stages: [], fields: [] };

/** What every task has, so that a field of this name is not meant by it. */
const BUILT_IN = new Set(
  'due|duedate|deadline|date|priority|prio|assignee|owner|status|state|title|name|description|project|tag|tags|estimate|cycle|sprint|stage|column'.split(
    '|',
  ),
);

/** Longest name in words. */
const MAX_WORDS = 8;

const keyOf = (text: string): string => fold(text).text.replace(/[^\p{L}\p{N}]/gu, '');

/** What own words are called, by the letters and digits of the words that name them. */
interface Index {
  stages: ReadonlyMap<string, OwnWords['stages']>;
  /** Stages such as `In QA`, by what stands behind `in`. */
  behindIn: ReadonlyMap<string, OwnWords['stages']>;
  fields: ReadonlyMap<string, readonly string[]>;
  /** By value and by label. */
  choices: ReadonlyMap<string, readonly Choice[]>;
  /** Fields that have choices. */
  withChoices: ReadonlySet<string>;
}

function groupByKey<T>(all: readonly T[], textsOf: (one: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all)
    for (const key of new Set(textsOf(one).map(keyOf))) {
      const group = groups.get(key);
      if (group) group.push(one);
      else groups.set(key, [one]);
    }
  return groups;
}

/** A team has up to thousands of words, and a sentence asks for them at each of its places: they are folded once. */
const indexes = new WeakMap<OwnWords, Index>();

/** Returns the index of own words. */
export function indexOf(own: OwnWords): Index {
  const known = indexes.get(own);
  if (known) return known;
  const { stages, fields, choices = [] } = own;
  const index: Index = {
    stages: groupByKey(stages, ({ name }) => [name]),
    behindIn: groupByKey(
      stages.filter(({ name }) => /^in\W/i.test(name)),
      ({ name }) => [name.slice(3)],
    ),
    fields: groupByKey(fields, (name) => [name]),
    choices: groupByKey(choices, ({ value, label }) => [value, label]),
    withChoices: new Set(choices.map(({ field }) => field)),
  };
  indexes.set(own, index);
  return index;
}

/** Returns the letters and digits of words, by which own words are found. */
export const keyOfWords = (words: readonly string[]): string => keyOf(words.join(''));

const isLongName = (words: readonly string[]): boolean => words.length === 0 || words.length > MAX_WORDS;

/**
 * Returns the stages that words name: of this name, else of this name behind `in`, for a stage `In QA` is also called `QA`. Several names are for the
 * person to choose from.
 */
export function readStages(own: OwnWords, words: readonly string[]): OwnWords['stages'] {
  if (own.stages.length === 0 || isLongName(words)) return [];
  const key = keyOfWords(words);
  if (key === '') return [];
  const { stages, behindIn } = indexOf(own);
  return stages.get(key) ?? behindIn.get(key) ?? [];
}

/** Returns the names of the custom fields that words name. */
export function readFieldNames(own: OwnWords, words: readonly string[]): readonly string[] {
  if (own.fields.length === 0 || isLongName(words)) return [];
  const key = keyOfWords(words);
  return key === '' || BUILT_IN.has(key) ? [] : (indexOf(own).fields.get(key) ?? []);
}

/** `in QA`, `code review`: the tasks of a stage have its status. */
export function readStage(words: readonly string[], at: number, own: OwnWords | undefined): Found | undefined {
  if (!own || own.stages.length === 0) return undefined;
  for (let end = Math.min(words.length, at + MAX_WORDS); end > at; end -= 1) {
    const part = words.slice(at, end);
    const found = [part, ...(part[0] === 'in' ? [part.slice(1)] : [])]
      .map((each) => readStages(own, each))
      .find((some) => some.length > 0);
    if (!found) continue;
    const filter = {
      stages: [...new Set(found.map(({ name }) => name.toLowerCase()))],
      statuses: [...new Set(found.map(({ status }) => status))],
    };
    return { filter, length: end - at };
  }
  return undefined;
}
