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
const isLongName = (words: readonly string[]): boolean => words.length === 0 || words.length > MAX_WORDS;

/**
 * Returns the stages that words name: of this name, else of this name behind `in`, for a stage `In QA` is also called `QA`. Several names are for the
 * person to choose from.
 */
export function readStages({ stages }: OwnWords, words: readonly string[]): OwnWords['stages'] {
  if (stages.length === 0 || isLongName(words)) return [];
  const key = keyOf(words.join(''));
  if (key === '') return [];
  const exact = stages.filter(({ name }) => keyOf(name) === key);
  return exact.length > 0 ? exact : stages.filter(({ name }) => /^in\W/i.test(name) && keyOf(name.slice(3)) === key);
}

/** Returns the names of the custom fields that words name. */
export function readFieldNames({ fields }: OwnWords, words: readonly string[]): readonly string[] {
  if (fields.length === 0 || isLongName(words)) return [];
  const key = keyOf(words.join(''));
  return key === '' || BUILT_IN.has(key) ? [] : fields.filter((name) => keyOf(name) === key);
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
