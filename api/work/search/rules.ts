/** Maximum terms of a query; further ones are ignored. */
const MAX_TERMS = 16;
/** Shortest last word, in code points, that also matches words which it begins. */
const MIN_PREFIX = 3;
/** Shortest word whose typos are looked up, and the shortest beside other words, without which it would mean too much. */
const MIN_TYPO_WORD = 5;
const MIN_TYPO_WORD_BESIDE = 4;
/** Maximum snippet length in code points, without marks. */
const MAX_SNIPPET = 240;
/** Code points of a snippet before its first match. */
const SNIPPET_LEAD = 60;

/** Characters that enclose a match in a snippet before it is escaped. PostgreSQL removes them from the text itself. */
export const MATCH_START = '\u{e000}';
export const MATCH_END = '\u{e001}';
/** Stands for `<` while PostgreSQL cuts a snippet, or it would remove what looks like a tag. */
export const LESS_THAN = '\u{e002}';

/** A part of a query, as `search_query` in PostgreSQL takes it. Its text has no syntax. */
export interface SearchTerm {
  /** Terms of a group must all match; one group suffices. */
  group: number;
  /** A word, or the words of a phrase. */
  text: string;
  /** The text must not occur. */
  negated?: true;
  /** Also matches words that begin with the text: it may be unfinished. */
  prefix?: true;
  /** A single word that may hold a typo. */
  word?: true;
}

const QUOTES = /[“”„«»]/g;
/** A phrase up to its closing quote or the end, or characters up to a space or a quote. */
const TOKENS = /(-?)"([^"]*)(?:"|$)|[^\s"]+/gu;
const SEARCHABLE = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
const WORD = /^[\p{L}\p{M}]+$/u;
const PLAIN = /^[\p{L}\p{M}\p{N}]+$/u;
/** Scripts without spaces between words, and emoji: PostgreSQL finds no words to highlight there. */
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

const countCharacters = (text: string): number => Array.from(text).length;

function buildTerm(token: RegExpMatchArray, group: number, isUnfinished: boolean): SearchTerm | undefined {
  const [whole, dash, phrase] = token;
  if (phrase !== undefined) {
    if (!SEARCHABLE.test(phrase)) return undefined;
    return { group, text: phrase.trim(), ...(dash === '-' && { negated: true }) };
  }
  if (!SEARCHABLE.test(whole)) return undefined;
  if (/^-[\p{L}\p{N}]/u.test(whole)) return { group, text: whole.slice(1), negated: true };
  const length = countCharacters(whole);
  return {
    group,
    text: whole,
    ...(isUnfinished && PLAIN.test(whole) && length >= MIN_PREFIX && { prefix: true }),
    ...(WORD.test(whole) && length >= MIN_TYPO_WORD && { word: true }),
  };
}

/**
 * Reads a query: words that must all match, `"a phrase"`, `-word` to exclude, `or` between alternatives. Everything else is text. A last
 * word of three or more letters without a space behind it may be unfinished.
 */
export function parseQuery(query: string): SearchTerm[] {
  const text = query.normalize('NFC').replace(QUOTES, '"');
  const terms: SearchTerm[] = [];
  let group = 0;
  for (const token of text.matchAll(TOKENS)) {
    if (terms.length === MAX_TERMS) break;
    if (/^or$/i.test(token[0])) {
      group += 1;
      continue;
    }
    const term = buildTerm(token, group, token.index + token[0].length === text.length);
    if (term) terms.push(term);
  }
  return terms;
}

/** Marks shorter words that may hold a typo too, where another word of their group must match beside. */
export const withShortTypos = (terms: readonly SearchTerm[]): SearchTerm[] =>
  terms.map((term) => {
    const { text, group, negated } = term;
    const isShort = !negated && WORD.test(text) && countCharacters(text) === MIN_TYPO_WORD_BESIDE;
    const isBeside = terms.some((other) => other !== term && other.group === group && !other.negated);
    return isShort && isBeside ? { ...term, word: true } : term;
  });

/** Returns whether a search with few hits looks for typos. */
export const mayHoldTypos = (terms: readonly SearchTerm[]): boolean => terms.some(({ word, negated }) => word && !negated);

/** A name such as `node.js`, `v1.2` or an address: PostgreSQL takes it for one word in a text and for several in a query. */
const isName = ({ text }: SearchTerm): boolean => !/\s/u.test(text) && !PLAIN.test(text);

/** Returns the text to highlight literally where a text has it, in lower case; null where PostgreSQL highlights words. */
export function literalMatch(terms: readonly SearchTerm[]): string | null {
  const wanted = terms.filter(({ negated }) => !negated);
  const literal = wanted.find(({ text }) => SPACELESS.test(text)) ?? (wanted.length === 1 ? wanted.find(isName) : undefined);
  return literal?.text.toLowerCase() ?? null;
}

/** Encloses the occurrences of a text in match characters. */
export function markLiterally(text: string, literal: string): string {
  const lower = text.toLowerCase();
  // Lower case can change the length of a text; then positions differ and nothing is marked.
  if (literal === '' || lower.length !== text.length) return text;
  let marked = '';
  let at = 0;
  for (let next = lower.indexOf(literal); next !== -1; next = lower.indexOf(literal, at)) {
    marked += text.slice(at, next) + MATCH_START + text.slice(next, next + literal.length) + MATCH_END;
    at = next + literal.length;
  }
  return marked + text.slice(at);
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Returns the part of a text around its first match, at most 240 code points. */
function cutAround(text: string): string {
  const letters = Array.from(text);
  const first = letters.indexOf(MATCH_START);
  const start = letters.length > MAX_SNIPPET ? Math.max(0, first - SNIPPET_LEAD) : 0;
  const cut = letters.slice(start, start + MAX_SNIPPET);
  const isOpen = cut.lastIndexOf(MATCH_START) > cut.lastIndexOf(MATCH_END);
  const startsInside =
    cut.indexOf(MATCH_END) !== -1 && cut.indexOf(MATCH_END) < (cut.indexOf(MATCH_START) + cut.length) % cut.length;
  return (startsInside ? MATCH_START : '') + cut.join('') + (isOpen ? MATCH_END : '');
}

/** Returns a snippet as HTML: one line, the text escaped, matches in `<mark>`. */
export const snippetHtml = (text: string): string =>
  cutAround(
    text
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .replaceAll(LESS_THAN, '<')
      .trim(),
  )
    .replace(/[&<>"']/g, (char) => ESCAPES[char] as string)
    .replaceAll(MATCH_START, '<mark>')
    .replaceAll(MATCH_END, '</mark>');
