import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findBannedWords, readBannedWords } from './lint/glossary.js';

/** `npm run house`: prints the figures of the source tree, and ends with 1 where one passes its limit. `test/house.test.ts` holds them too. */

const ROOTS = [
  'api',
  'activities',
  'workflows',
  'db',
  'scripts',
  'clients/typescript/cli',
  'clients/typescript/node',
  'clients/typescript/runner',
];
const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 60;
const MAX_FOLDER_FILES = 25;
/** Grows by a file with each change of the tables, which no order in folders would help. */
const UNLIMITED_FOLDER = 'db/migrations';
/** Groups of `api`, and folders in each. */
const MAX_FOLDERS = 12;
const MIN_DUPLICATE_LINES = 15;

export interface SourceFile {
  path: string;
  lines: string[];
}

/** Files below the source folders that we wrote ourselves. */
export function sourceFiles(root = '.', folders = ROOTS, isWanted = (_path: string): boolean => true): SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/vendor|node_modules/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(isWanted)
    .map((path) => ({ path: normalize(path).slice(root === '.' ? 0 : root.length + 1), lines: splitLines(path) }));
}

const splitLines = (path: string): string[] => readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
const isCode = ({ path }: SourceFile): boolean => ['.ts', '.mjs'].includes(extname(path));
/** A migration is one text of SQL that says again what it replaces. */
const isMigration = ({ path }: SourceFile): boolean => path.startsWith('db/migrations/');
const isDeclaration = ({ path }: SourceFile): boolean => path.endsWith('.d.ts');

/** Splits a line of formatted code into code and comment; texts between quotes are emptied. */
function splitLine(line: string): { code: string; comment: string } {
  if (/^\s*(\/\*\*?|\*)/.test(line)) return { code: '', comment: line };
  const bare = line.replace(
    /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?:[^/\\\s]|\\.)+\/[gimsuy]*(?=[.,;)\s])/g,
    "''",
  );
  const at = bare.search(/\/\/|\/\*|--\s/);
  return at < 0 ? { code: bare, comment: '' } : { code: bare.slice(0, at), comment: bare.slice(at) };
}

export const longFiles = (files: SourceFile[]): string[] =>
  files
    .filter((file) => isCode(file) && !isDeclaration(file) && file.lines.length > MAX_FILE_LINES)
    .map(({ path, lines }) => `${path}: ${lines.length} lines`);

/** The formatter closes a function at the indentation at which it was opened. Blank lines and comments do not count. */
export const longFunctions = (files: SourceFile[]): string[] =>
  files
    .filter((file) => isCode(file) && !isMigration(file))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, start) => {
        if (!/(\bfunction\b.*|=>|^\s+(?:async |static |private |get |set )*[\w#]+(?:<.*>)?\(.*\).*) \{$/.test(line)) return [];
        if (/^\s*(if|for|while|switch|catch|\} else)\b/.test(line)) return [];
        const indent = /^\s*/.exec(line)?.[0] ?? '';
        const end = lines.findIndex((other, at) => at > start && other.startsWith(`${indent}}`));
        const length = lines.slice(start, end + 1).filter((each) => splitLine(each).code.trim() !== '').length;
        return length > MAX_FUNCTION_LINES ? [`${path}:${start + 1}: ${length} lines`] : [];
      }),
    );

const ANY = new RegExp('(?::|\\bas|[|,]) any\\b(?!\\()|<any\\b');
/** Types that are not checked. The linter refuses them too; a line that waives that rule says why. */
export const anyTypes = (files: SourceFile[]): string[] =>
  files
    .filter(isCode)
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, at) =>
        ANY.test(splitLine(line).code) && !line.includes('no-explicit-any') ? [`${path}:${at + 1}: ${line.trim()}`] : [],
      ),
    );

export function fullFolders(files: SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => count > MAX_FOLDER_FILES && folder !== UNLIMITED_FOLDER)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

/** The groups of `api`, from top to bottom: the order that the linter enforces is the only declaration of it. */
export const layers = (): string[] =>
  (
    JSON.parse(readFileSync('.oxlintrc.json', 'utf8')) as { overrides: { rules: Record<string, [string, string[]]> }[] }
  ).overrides.flatMap(({ rules }) => rules['assent/layers']?.[1] ?? []);

const getGroup = (path: string): string | undefined => /^api\/([^/]+)\//.exec(path)?.[1];

/** Paths of the files that a file imports, types included. */
const listImports = ({ path, lines }: SourceFile): string[] =>
  [...lines.join('\n').matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)'/gm)].map(([, target = '']) =>
    join(dirname(path), target.replace(/\.js$/, '.ts')),
  );

/** Imports from a group of `api` to one above it, with the files that have them. */
export function upwardArrows(files: SourceFile[], order = layers()): { arrow: string; files: string[] }[] {
  const arrows = new Map<string, Set<string>>();
  for (const file of files)
    for (const target of listImports(file)) {
      const [from, to] = [getGroup(file.path), getGroup(target)];
      if (from === undefined || to === undefined || order.indexOf(from) <= order.indexOf(to)) continue;
      arrows.set(`${from} -> ${to}`, (arrows.get(`${from} -> ${to}`) ?? new Set()).add(file.path));
    }
  return [...arrows].map(([arrow, paths]) => ({ arrow, files: [...paths] }));
}

/** Files that import each other in a circle, types included: what is left when files that import none of the rest are taken away, from both ends. */
export function circles(files: SourceFile[]): string[] {
  let edges = files.flatMap((file) => listImports(file).map((target) => [file.path, target] as const));
  for (let count = -1; count !== edges.length; ) {
    count = edges.length;
    const [importing, imported] = [new Set(edges.map(([from]) => from)), new Set(edges.map(([, to]) => to))];
    edges = edges.filter(([from, to]) => imported.has(from) && importing.has(to));
  }
  return edges.map(([from, to]) => `${from} -> ${to}`);
}

/** Folders of `api` that hold more folders than a reader keeps in mind. */
export function crowdedFolders(files: SourceFile[]): string[] {
  const found = new Map<string, Set<string>>();
  for (const { path } of files) {
    const [root, group, folder, ...rest] = path.split('/');
    if (root !== 'api' || group === undefined || folder === undefined) continue;
    found.set('api', (found.get('api') ?? new Set()).add(group));
    if (rest.length > 0) found.set(`api/${group}`, (found.get(`api/${group}`) ?? new Set()).add(folder));
  }
  return [...found].filter(([, { size }]) => size > MAX_FOLDERS).map(([folder, { size }]) => `${folder}: ${size} folders`);
}

/** What points at a document that is not in the repository: sections, codes of decisions and findings, letters. */
const CITATION =
  /\bSource:|\b(contract|spec|notes?),? section \d|durability (notes|R?\d)|\b(decisions?|findings?|issue) [A-Z]?\d|\bT-[A-Z]{3,}|\([A-N]\d{1,2}(, [A-N]\d{1,2})*\)|(?<![\w.])\/work\/|house rules/;

export const citations = (files: SourceFile[]): string[] =>
  files.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (CITATION.test(splitLine(line).comment) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );

/** Released migrations and release notes keep their words, and the glossary lists them. */
const UNJUDGED = /^(CHANGELOG\.md|docs\/glossary\.md)$|^db\/migrations\//;
const isSource = (path: string): boolean => ['.ts', '.mjs', '.js', '.eta', '.sql'].includes(extname(path));
const isDocument = (path: string): boolean => extname(path) === '.md' && !path.includes('dist/');

/** Files with words to judge: sources, pages, tests, documents, and the messages of the linter. */
export const wordedFiles = (root = '.'): SourceFile[] => [
  ...sourceFiles(root, ROOTS, isSource),
  ...sourceFiles(root, ['test'], (path) => path.endsWith('.ts')),
  ...sourceFiles(root, ['docs', 'clients'], isDocument),
  ...readdirSync(root)
    .filter((name) => isDocument(name) || name === '.oxlintrc.json')
    .map((path) => ({ path, lines: splitLines(join(root, path)) })),
];

/** Words that the glossary refuses. */
export function bannedWords(files: SourceFile[], glossary = readFileSync('docs/glossary.md', 'utf8')): string[] {
  const words = readBannedWords(glossary);
  return files
    .filter(({ path }) => !UNJUDGED.test(path))
    .flatMap(({ path, lines }) => findBannedWords(path, lines.join('\n'), words));
}

/** Imports, types and lines without a word of their own say nothing about copied logic. */
const isTrivial = (line: string): boolean => /^(import|export) .*from|^import |^[\])}>;,\s(]*$/.test(line.trim());
const DECLARATION = /^(export )?(interface|type|declare)\b/;

/** Code lines of a file, with their numbers, without comments and type declarations. */
function codeLines({ lines }: SourceFile): { text: string; line: number }[] {
  let inDeclaration = false;
  return lines.flatMap((line, at) => {
    if (DECLARATION.test(line)) inDeclaration = !/;$|\}$/.test(line);
    else if (inDeclaration) inDeclaration = !/^\S/.test(line);
    else if (splitLine(line).code.trim() !== '' && !isTrivial(line)) return [{ text: line.trim(), line: at + 1 }];
    return [];
  });
}

/** Pairs of places whose code reads the same for fifteen lines or more. */
export function duplicates(files: SourceFile[]): string[] {
  const seen = new Map<string, string>();
  const found: string[] = [];
  for (const file of files.filter((each) => isCode(each) && !isDeclaration(each) && !isMigration(each))) {
    const code = codeLines(file);
    let last = -MIN_DUPLICATE_LINES;
    for (let at = 0; at + MIN_DUPLICATE_LINES <= code.length; at += 1) {
      const block = code.slice(at, at + MIN_DUPLICATE_LINES);
      const key = block.map(({ text }) => text).join('\n');
      const here = `${file.path}:${block[0]?.line}`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, here);
      else if (at >= last + MIN_DUPLICATE_LINES) {
        found.push(`${here} as ${first}`);
        last = at;
      }
    }
  }
  return found;
}

/** All figures of the tree below `root`. */
export function measure(root = '.') {
  const files = sourceFiles(root);
  return {
    'files over 300 lines': longFiles(files),
    'functions over 60 lines': longFunctions(files),
    any: anyTypes(files),
    'folders over 25 files': fullFolders(files),
    [`groups over ${MAX_FOLDERS} folders`]: crowdedFolders(files),
    circles: circles(files),
    'upward arrows': upwardArrows(files).map(({ arrow, files: from }) => `${arrow} (${from.join(', ')})`),
    citations: citations(files),
    'banned words': bannedWords(wordedFiles(root)),
    'duplicate blocks': duplicates(files),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const figures = Object.entries(measure());
  // Every limit of the tree is zero of something.
  process.exitCode = figures.some(([, found]) => found.length > 0) ? 1 : 0;
  for (const [figure, found] of figures) {
    process.stdout.write(`${String(found.length).padStart(4)}  ${figure}\n`);
    for (const line of found) process.stdout.write(`        ${line}\n`);
  }
}
