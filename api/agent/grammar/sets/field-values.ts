import type { Found } from '../terms.js';
import { type Choice, indexOf, keyOfWords, type OwnWords, readFieldNames } from './own-words.js';

/** Sets of tasks by the values of their custom fields. */

/** Longest name of a field or a choice in words. */
const MAX_WORDS = 5;
/** Words between a field and its value. */
const IS = new Set(['is', 'are', 'of', 'at', 'to', '=', ':', 'equals']);
const WITHOUT = new Set(['without', 'no', 'lacking', 'missing']);
const ARTICLES = new Set(['a', 'an', 'any', 'the']);
/** A choice that stands alone is a code, such as S1: another word says too much else. */
const CODE = /^\p{L}{1,3}\d{1,2}$/u;

const filterOf = (field: string, value: string | null, length: number): Found => ({
  filter: { fields: [{ field: field.toLowerCase(), value }] },
  length,
});

/** The choices of a field, or of all, that words mean: by value or by label. */
const choicesOf = (own: OwnWords, words: readonly string[], field?: string): readonly Choice[] => {
  const found = indexOf(own).choices.get(keyOfWords(words)) ?? [];
  return field === undefined ? found : found.filter((one) => one.field === field);
};

/** Returns the one choice that a code means, whatever its field is; undefined where several fields have it. */
export function readCode(own: OwnWords, words: readonly string[]): Choice | undefined {
  const [found, another] = words.length === 1 && CODE.test(words[0] ?? '') ? choicesOf(own, words) : [];
  return another === undefined ? found : undefined;
}

/** The longest words from a place on that something reads. */
function longest<T>(
  words: readonly string[],
  at: number,
  read: (part: readonly string[]) => T | undefined,
): [T, number] | undefined {
  for (let end = Math.min(words.length, at + MAX_WORDS); end > at; end -= 1) {
    const found = read(words.slice(at, end));
    if (found !== undefined) return [found, end];
  }
  return undefined;
}

/** Several fields of one name are several meanings: the words then name none. */
function readField(words: readonly string[], at: number, own: OwnWords): [string, number] | undefined {
  return longest(words, at, (part) => {
    const [name, another] = readFieldNames(own, part);
    return another === undefined ? name : undefined;
  });
}

/** `severity is S1`, `severity: S1`, `story size is 3` */
function readBehind(words: readonly string[], at: number, own: OwnWords): Found | undefined {
  const [name, end] = readField(words, at, own) ?? [];
  if (name === undefined || end === undefined) return undefined;
  let from = end;
  while (IS.has(words[from] ?? '')) from += 1;
  const [choice, to] = longest(words, from, (part) => choicesOf(own, part, name)[0]) ?? [];
  if (choice && to !== undefined) return filterOf(name, choice.label.toLowerCase(), to - at);
  const hasChoices = indexOf(own).withChoices.has(name);
  const word = words[from];
  return hasChoices || from === end || word === undefined ? undefined : filterOf(name, word, from + 1 - at);
}

/** `high impact` */
function readBefore(words: readonly string[], at: number, own: OwnWords): Found | undefined {
  for (let end = Math.min(words.length - 1, at + MAX_WORDS); end > at; end -= 1) {
    const [name, to] = readField(words, end, own) ?? [];
    const choice = name === undefined ? undefined : choicesOf(own, words.slice(at, end), name)[0];
    if (choice && to !== undefined) return filterOf(choice.field, choice.label.toLowerCase(), to - at);
  }
  return undefined;
}

/** `without a severity`, `no severity` */
function readNone(words: readonly string[], at: number, own: OwnWords): Found | undefined {
  if (!WITHOUT.has(words[at] ?? '')) return undefined;
  const from = ARTICLES.has(words[at + 1] ?? '') ? at + 2 : at + 1;
  const [name, to] = readField(words, from, own) ?? [];
  return name === undefined || to === undefined ? undefined : filterOf(name, null, to - at);
}

/** Reads what words say of a custom field of the team. */
export function readFieldValue(words: readonly string[], at: number, own: OwnWords | undefined): Found | undefined {
  if (!own || own.fields.length === 0) return undefined;
  const code = readCode(own, words.slice(at, at + 1));
  return (
    readNone(words, at, own) ??
    readBehind(words, at, own) ??
    readBefore(words, at, own) ??
    (code && filterOf(code.field, code.label.toLowerCase(), 1))
  );
}
