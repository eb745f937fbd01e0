import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const FOLDERS = ['activities', 'api', 'clients', 'db', 'deploy', 'docs', 'scripts', 'test', 'workflows'];
const SKIPPED = /(^|\/)(node_modules|vendor|histories|dist)(\/|$)|(^|\/)schema\.d\.ts$/;
const KINDS = ['.ts', '.mts', '.mjs', '.js', '.sql', '.eta', '.css', '.sh', '.yml', '.yaml', '.md'];

interface Source {
  path: string;
  lines: string[];
}

function sourcesBelow(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && KINDS.includes(extname(entry.name)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !SKIPPED.test(path))
    .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n') }));
}

const rootFiles = readdirSync(root).filter((name) => KINDS.includes(extname(name)));
const sources = [
  ...FOLDERS.flatMap(sourcesBelow),
  ...rootFiles.map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n') })),
];

/** Comment text of a line in TypeScript, SQL, CSS, YAML or shell; undefined without one. */
const toComment = (line: string): string | undefined => /(?:^|\s)(?:\/\/|\/?\*\*?|--|#)(?:\s+(.*))?$/.exec(line)?.[1];

/** Anchor of a Markdown heading, as code hosts build it. */
const buildAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (path: string): Set<string> =>
  new Set([...readFileSync(join(root, path), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => buildAnchor(heading)));

/** What is wrong with a reference to a file, with an optional anchor; null if it resolves. */
function findFault(path: string, anchor: string | undefined): string | null {
  if (!existsSync(join(root, path))) return `${path} does not exist`;
  if (anchor !== undefined && path.endsWith('.md') && !anchorsIn(path).has(anchor)) return `${path} has no heading #${anchor}`;
  return null;
}

const decisionPages = readdirSync(join(root, 'docs/adr')).map((name) => Number(name.slice(0, 4)));

/** Unresolved references of one line: pages of docs/, relative links of a page, and ADR numbers. */
function unresolvedIn(path: string, line: string): string[] {
  const cited = [...line.matchAll(/\bdocs\/([\w./-]+\.md)(?:#([\w-]+))?/g)].map(([, page, anchor]) =>
    findFault(`docs/${page}`, anchor),
  );
  const linked = path.endsWith('.md')
    ? [...line.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, target = '', anchor]) =>
        findFault(target === '' ? path : join(dirname(path), target), anchor),
      )
    : [];
  const numbers = [...line.matchAll(/\bADR (\d+)(?: and (\d+))?/g)].flatMap(([, first, second]) =>
    second ? [first, second] : [first],
  );
  const records = [...line.matchAll(/\bdocs\/adr\/(\d{4})\b/g)].map(([, number = '']) => number);
  const pages = [...numbers, ...records].map((number) =>
    decisionPages.includes(Number(number)) ? null : `there is no ADR ${number}`,
  );
  return [...cited, ...linked, ...pages].filter((fault) => fault !== null);
}

/** References to documents outside the repository: lettered decisions, numbered rules, sections of a contract or of notes. */
const FOREIGN = [
  /\b[A-NR]\d{1,2}\b/,
  /\bT-[A-Z]{2,}/,
  /\bSource:/,
  /\b(?:durability|performance|Temporal|ecosystem) notes\b/i,
  /\bhouse rules?\b/i,
  /\b(?:contract|spec|specification|architecture), (?:sections? )?["“\d]/,
  /\b(?:contract|spec|specification), sections?\b/,
  /\bdecisions?,? [A-N]\d{0,2}\b/,
  /\bthe contract\b.*\bsection\b/i,
];
const isForeign = (text: string): boolean => FOREIGN.some((pattern) => pattern.test(text));

const at = ({ path }: Source, index: number, what: string): string => `${path}:${index + 1}: ${what.trim()}`;

describe('citations', () => {
  it('reads the tree', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/decisions/automation.md', 'api/automation/runs/record/rules.ts']),
    );
  });

  it('resolve to a page, a heading or a decision record of this repository', () => {
    const faults = sources.flatMap((source) =>
      source.lines.flatMap((line, i) => unresolvedIn(source.path, line).map((fault) => at(source, i, fault))),
    );
    expect(faults).toEqual([]);
  });

  it('name source files that exist, in the documents', () => {
    const known = sources.map(({ path }) => `/${path}`);
    const documents = sources.filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md');
    const faults = documents.flatMap((source) =>
      source.lines.flatMap((line, i) =>
        [...line.matchAll(/`(\w[\w./-]*\.(?:ts|mjs|eta))`/g)]
          .filter(([, name]) => !known.some((path) => path.endsWith(`/${name}`)))
          .map(([, name = '']) => at(source, i, name)),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('use every entry of docs/decisions, whose headings are in alphabetical order on each page', () => {
    const pages = sources.map(({ path }) => path).filter((path) => /^docs\/decisions\/(?!README)[\w-]+\.md$/.test(path));
    const cited = new Set(
      sources
        .filter(({ path }) => !pages.includes(path))
        .flatMap(({ lines }) => lines.join('\n').match(/docs\/decisions\/[\w-]+\.md#[\w-]+/g) ?? []),
    );
    for (const page of pages) {
      const headings = [...anchorsIn(page)].slice(1);
      expect(headings.filter((heading) => !cited.has(`${page}#${heading}`))).toEqual([]);
      expect(headings).toEqual(headings.toSorted());
    }
    expect(pages.length).toBeGreaterThan(5);
  });

  it('name no document outside the repository', () => {
    const faults = sources.flatMap((source) =>
      source.lines.flatMap((line, i) => {
        const text = source.path.endsWith('.md') ? line : toComment(line);
        return text !== undefined && isForeign(text) ? [at(source, i, text)] : [];
      }),
    );
    expect(faults).toEqual([]);
  });
});
