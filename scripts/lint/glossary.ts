import { readTokens } from './tokens.js';

/** Finds the words that docs/glossary.md says not to use. The third column of its tables is the only list of them. */

/** `names`: identifiers, keys and files. `texts`: comments, messages, pages, names of tests and documents. */
type Scope = 'names' | 'texts';

export interface BannedWord {
  word: string;
  scopes: Scope[];
}

const LIMITS: Record<string, Scope[]> = { '': ['names', 'texts'], 'in names': ['names'], 'in texts': ['texts'] };

/**
 * Reads the third column: words with commas between them, each with a limit in parentheses or none. `(for …)` names a meaning, which only a reader
 * can judge: such a word is not checked.
 * @throws Error a limit is of neither kind
 */
export function readBannedWords(glossary: string): BannedWord[] {
  const cells = [...glossary.matchAll(/^\|[^|\n]*\|[^|\n]*\|([^|\n]*)\|$/gm)].map(([, cell = '']) => cell.trim());
  return cells
    .filter((cell) => cell !== '' && cell !== 'do not use' && !cell.startsWith('---'))
    .flatMap((cell) => cell.split(/,\s*(?![^(]*\))/))
    .flatMap((entry) => {
      const [, word = '', limit = ''] = /^([^(]+?)(?: \((.+)\))?$/.exec(entry) ?? [];
      if (limit.startsWith('for ')) return [];
      const scopes = LIMITS[limit];
      if (scopes === undefined || word === '') throw new Error(`docs/glossary.md: the limit of "${entry}" is unknown`);
      return [{ word: word.toLowerCase(), scopes }];
    });
}

/** Names that other programs, stored rows or recorded histories know, with the files that use them. */
const ALLOWED: { name: RegExp; paths: RegExp; reason: string }[] = [
  {
    name: /^lapsed$/,
    paths: /^(api\/(automation\/runs|work\/notifications|web\/views\/work)|workflows)\//,
    reason: 'state of a gate in the API, in the search attribute GateState and in recorded histories',
  },
  { name: /^lapsed_at$/, paths: /^api\/automation\/runs\//, reason: 'column of the table gates' },
  { name: /^resting$/, paths: /^(api\/work|workflows)\//, reason: 'state in the histories of cycles and series' },
  { name: /^armed_runs$/, paths: /^api\//, reason: 'field of a delivery in the API' },
  { name: /^bell$/, paths: /^api\/web\//, reason: 'icon of notifications' },
  { name: /^nobody$/, paths: /^api\/agent\/grammar\//, reason: 'word of a message to the agent' },
  { name: /^nobody$/i, paths: /^api\/web\//, reason: 'text of a page: no assignee' },
  { name: /^nobody$/, paths: /^scripts\/embedded\//, reason: 'user of the operating system' },
];

/** Entries of the list above without a use, as their reasons. */
export const unusedAllowances = (files: { path: string; lines: string[] }[]): string[] =>
  ALLOWED.filter(
    ({ name, paths }) =>
      !files.some(
        ({ path, lines }) =>
          paths.test(path) &&
          readPieces(path, lines.join('\n')).some(({ scope, text }) => scope === 'names' && name.test(bare(text))),
      ),
  ).map(({ reason }) => reason);

/** A name of SQL without its quotes. */
const bare = (text: string): string => text.replaceAll("'", '');

interface Piece {
  scope: Scope;
  text: string;
  at: number;
}

const SQL =
  /\b(select|insert into|update|delete from|create|alter|where|returning|from|lock table|with)\b[\s\S]*?(\$\d|\bfrom\b|\bset\b|\bas\b|\(|=)|\b(any|coalesce)\(/;
/** A statement, or a part of one: it begins in lower case and ends without a full stop. */
const isSql = (text: string): boolean => SQL.test(text) && !/^\s*[A-Z]|[.!?]\s*$/.test(text);

/** Comments of SQL and its quoted sentences are texts, the rest of it is names. */
const readSql = (text: string, at: number): Piece[] =>
  [...text.matchAll(/--.*|'[^'\n]*'|\w+/g)].map(({ 0: part, index }) => ({
    scope: part.startsWith('--') || /^'.*\s/.test(part) ? 'texts' : 'names',
    text: part,
    at: at + index,
  }));

/** A quoted text without a space is a key or a value, one with spaces is SQL or prose. */
const readQuoted = (text: string, at: number, hasSql: boolean): Piece[] => {
  if (!/\s/.test(text)) return [{ scope: 'names', text, at }];
  return hasSql || isSql(text) ? readSql(text, at) : [{ scope: 'texts', text, at }];
};

const readCode = (source: string, hasSql = false): Piece[] =>
  readTokens(source).flatMap(({ kind, text, at }) => {
    if (kind === 'text') return readQuoted(text, at, hasSql && source[at] !== "'");
    return [{ scope: kind === 'name' ? 'names' : 'texts', text, at } as const];
  });

/** A template: its code between `<%` and `%>`, its text, and the attributes that a reader sees. */
const readTemplate = (source: string): Piece[] =>
  [...source.matchAll(/<%([\s\S]*?)%>/g)]
    .flatMap(({ 1: code = '', index }) => readCode(code).map((piece) => ({ ...piece, at: piece.at + index + 2 })))
    .concat({ scope: 'texts', text: blank(source, /<%[\s\S]*?%>/g).replace(/<[^>]*>/g, keepShown), at: 0 });

/** Blanks a tag but for the attributes that a reader sees. */
const keepShown = (tag: string): string =>
  [...tag.matchAll(/(?<=\s(?:title|aria-label|placeholder|alt)=")[^"]*/g)].reduce(
    (kept, { 0: shown, index }) => kept.slice(0, index) + shown + kept.slice(index + shown.length),
    blank(tag, /[^]+/g),
  );

/** Titles: the first text in `it(…)`, and in the second call of `it.each(…)(…)`. */
const readTestNames = (source: string): Piece[] =>
  readTokens(source).flatMap(({ kind, text, at, before }) =>
    kind === 'text' && /\s/.test(text) && /^(it|test|describe|only|skip|\))\($/.test(before)
      ? [{ scope: 'texts', text, at }]
      : [],
  );

const blank = (text: string, pattern: RegExp, by = ' '): string => text.replace(pattern, (part) => part.replace(/[^\n]/g, by));

/** Code in a text names what it names: only prose is judged. */
const CODE_IN_PROSE = [/```[\s\S]*?```/g, /`[^`]*`/g, /\]\([^)]*\)/g, /\b[\w.-]*[/_][\w./-]*/g, /\$?\{[^}]*\}/g, /<[^>\n]*>/g];
/** Sentences of a comment go on in its next line. */
const keepProse = (text: string): string =>
  CODE_IN_PROSE.reduce((kept, code) => blank(kept, code, '.'), blank(text, /^\s*(?:\*|\/\/|--)/gm));

/** Splits `camelCase`, `snake_case` and paths into words. */
const splitName = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])|[_\-./:]/g, ' ');
const countLines = (text: string): number => text.split('\n').length - 1;

const buildPattern = (words: BannedWord[], scope: Scope): RegExp => {
  const listed = words
    .filter(({ scopes }) => scopes.includes(scope))
    .map(({ word }) => word.replaceAll('*', '\\w*').replaceAll(' ', '\\s+'));
  return listed.length === 0 ? /(?!)/ : new RegExp(`\\b(?:${listed.join('|')})s?\\b`, 'gi');
};

function readPieces(path: string, source: string): Piece[] {
  if (path.endsWith('.md')) return [{ scope: 'texts', text: source, at: 0 }];
  if (path.endsWith('.eta')) return readTemplate(source);
  if (path.endsWith('.sql')) return readSql(source, 0);
  if (path.endsWith('.json'))
    return [...source.matchAll(/"message": "([^"]*)"/g)].map(({ 1: text = '', index }) => ({ scope: 'texts', text, at: index }));
  return path.startsWith('test/') ? readTestNames(source) : readCode(source, path.endsWith('.sql.ts'));
}

/** Words of the glossary's third column in a file, as `path:line: word (in …)`. */
export function findBannedWords(path: string, source: string, words: BannedWord[]): string[] {
  const patterns = { names: buildPattern(words, 'names'), texts: buildPattern(words, 'texts') };
  const judge = ({ scope, text, at }: Piece): string[] => {
    if (scope === 'names' && ALLOWED.some(({ name, paths }) => name.test(bare(text)) && paths.test(path))) return [];
    const read = scope === 'names' ? splitName(text) : keepProse(text);
    return [...read.matchAll(patterns[scope])].map(({ 0: word, index }) => {
      const line = 1 + countLines(source.slice(0, at)) + countLines(read.slice(0, index));
      const around = scope === 'names' ? bare(text) : `"${text.slice(Math.max(0, index - 60), index + 60).trim()}"`;
      return `${path}:${line}: ${word.toLowerCase()} in ${scope.slice(0, -1)} ${around}`.replace(/\s+/g, ' ');
    });
  };
  return readPieces(path, source).concat({ scope: 'names', text: path, at: 0 }).flatMap(judge);
}
