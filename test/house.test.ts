import { readBannedWords, unusedAllowances } from '../scripts/lint/glossary.js';
import {
  anyTypes,
  bannedWords,
  circles,
  citations,
  crowdedFolders,
  duplicates,
  fullFolders,
  layers,
  longFiles,
  longFunctions,
  type SourceFile,
  sourceFiles,
  upwardArrows,
  wordedFiles,
} from '../scripts/house.js';

/** The figures of `npm run house`, held to their limits; and that the counting itself finds what it looks for. */

const files = sourceFiles();
const file = (path: string, ...lines: string[]): SourceFile => ({ path, lines });
const many = (count: number, line: (nth: number) => string): string[] => Array.from({ length: count }, (_, nth) => line(nth));

describe('the source tree', () => {
  it('has no file over 300 lines', () => expect(longFiles(files)).toEqual([]));
  it('has no function over 60 lines', () => expect(longFunctions(files)).toEqual([]));
  it('has no `any`', () => expect(anyTypes(files)).toEqual([]));
  it('has no folder over 25 files', () => expect(fullFolders(files)).toEqual([]));
  it('cites no document from elsewhere', () => expect(citations(files)).toEqual([]));
  it('has no word that the glossary refuses', () => expect(bannedWords(wordedFiles())).toEqual([]));
  it('allows no refused word that is not used', () => expect(unusedAllowances(wordedFiles())).toEqual([]));
  it('has no block of 15 lines twice', () => expect(duplicates(files)).toEqual([]));

  it('has no group of `api` that imports one above it', () => expect(upwardArrows(files)).toEqual([]));
  it('has no circle of imports', () => expect(circles(files)).toEqual([]));
  it('has no group of over 12 folders', () => expect(crowdedFolders(files)).toEqual([]));

  it('orders every group of `api` once', () => {
    const found = new Set(files.flatMap(({ path }) => /^api\/([^/]+)\//.exec(path)?.[1] ?? []));
    expect(layers().toSorted()).toEqual([...found].toSorted());
    expect(new Set(layers()).size).toBe(layers().length);
  });
});

describe('the counting', () => {
  it('finds a long file and a full folder', () => {
    expect(longFiles([file('api/a.ts', ...many(301, String)), file('api/b.ts', ...many(300, String))])).toEqual([
      'api/a.ts: 301 lines',
    ]);
    expect(fullFolders(many(26, (nth) => `api/x/${nth}.ts`).map((path) => file(path)))).toEqual(['api/x: 26 files']);
  });

  it('finds a long function, without its comments', () => {
    const body = (count: number) => [
      'export async function work(): Promise<void> {',
      ...many(count, (nth) => `  run(${nth});`),
      '}',
    ];
    expect(longFunctions([file('api/a.ts', ...body(59)), file('api/b.ts', ...body(58), '// not counted')])).toEqual([
      'api/a.ts:1: 61 lines',
    ]);
    expect(longFunctions([file('api/a.ts', 'const work = () => {', ...many(70, () => '  // why'), '};')])).toEqual([]);
  });

  it('finds an untyped value, and not the word', () => {
    const lines = ['const a = b as any;', 'let c: any;', "const text = 'as any';", '// as any', 'z.any();'];
    expect(anyTypes([file('api/a.ts', ...lines)])).toEqual(['api/a.ts:1: const a = b as any;', 'api/a.ts:2: let c: any;']);
  });

  it('finds a citation, and none in code', () => {
    const found = citations([
      file('api/a.ts', '/** A rule. Source: decision F5. */', '// contract, section 2', "const a = '(A11)';", '-- (C3)'),
    ]);
    expect(found).toHaveLength(3);
  });

  describe('of the words that the glossary refuses', () => {
    const glossary = [
      '| term | meaning | do not use |',
      '|---|---|---|',
      '| user | account | whoever, nobody (in names) |',
      '| role | of a team | seat (in texts), take (for a role) |',
      '| test run | dry run | rehears*, taken back |',
    ].join('\n');
    const find = (path: string, ...lines: string[]) => bannedWords([file(path, ...lines)], glossary);

    it.each([
      ['an identifier', 'api/a.ts', 'const whoeverAsks = 1;', 'whoever'],
      ['a constant', 'api/a.ts', 'const NOBODY_ASKS = 1;', 'nobody'],
      ['a key', 'api/a.ts', "send('nobody');", 'nobody'],
      ['a column', 'api/a.sql.ts', 'const text = `select a.nobody from a`;', 'nobody'],
      ['the name of a file', 'api/rehearse-run.ts', '', 'rehearse'],
      ['a comment', 'api/a.ts', '// For whoever asks.', 'whoever'],
      ['a comment of SQL', 'api/a.sql.ts', 'const text = `select 1 -- for whoever asks`;', 'whoever'],
      ['a message', 'api/a.ts', "throw new Error('This seat is free');", 'seat'],
      ['a part of a template', 'api/a.ts', 'const text = `${count} seats are free`;', 'seats'],
      ['a page', 'api/web/views/a.eta', '<p class="seat">Choose a seat</p>', 'seat'],
      ['the title of a field', 'api/web/views/a.eta', '<input title="Choose a seat">', 'seat'],
      ['a message of the linter', '.oxlintrc.json', '{ "message": "A seat is a role." }', 'seat'],
      ['the name of a test', 'test/a.test.ts', "it.each([1])('gives a seat', () => {});", 'seat'],
      ['a document', 'SECURITY.md', 'A seat is free.', 'seat'],
      ['a heading with another ending', 'README.md', '# Rehearsals', 'rehearsals'],
    ])('finds one in %s', (_place, path, line, word) => {
      expect(find(path, line)).toEqual([expect.stringContaining(`${path}:1: ${word} in `)]);
    });

    it('finds words on two lines of a comment', () => {
      expect(find('api/a.ts', '/**', ' * Is taken', ' * back.', ' */')).toEqual([
        expect.stringContaining('api/a.ts:2: taken back'),
      ]);
    });

    it('accepts a word outside its limits, and code in prose', () => {
      expect(find('api/a.ts', "const seat = 'seat';", '// Nobody may take it: see `whoever` and api/whoever.ts.')).toEqual([]);
      expect(find('SECURITY.md', 'Nobody may take it.', '```', 'whoever', '```', '[Here](README.md).')).toEqual([]);
      expect(find('test/a.test.ts', "const seats = 'two seats';", 'it("ends", () => whoever());')).toEqual([]);
      expect(find('CHANGELOG.md', 'For whoever asks.')).toEqual([]);
    });

    it('rejects a limit of an unknown kind', () => {
      expect(() => readBannedWords('| role | of a team | seat (in mails) |')).toThrow(
        'the limit of "seat (in mails)" is unknown',
      );
    });

    it('reads the words of the glossary of this project', () => {
      expect(bannedWords([file('api/a.ts', 'const twig = 1;', '// For somebody.', "log('This seat');")])).toHaveLength(3);
    });
  });

  it('finds an import of a group above, types included', () => {
    const found = upwardArrows([
      file('api/platform/a.ts', "import type { B } from '../work/b.js';"),
      file('api/work/tasks/write/b.ts', "import { a } from '../../../platform/a.js';"),
    ]);
    expect(found).toEqual([{ arrow: 'platform -> work', files: ['api/platform/a.ts'] }]);
  });

  it('finds a circle, types included, and not what hangs on it', () => {
    const found = circles([
      file('api/a.ts', "import type { B } from './b.js';", "import { leaf } from './leaf.js';"),
      file('api/b.ts', "import { C } from './x/c.js';"),
      file('api/x/c.ts', "export { a } from '../a.js';"),
      file('api/root.ts', "import { a } from './a.js';"),
      file('api/leaf.ts'),
    ]);
    expect(found).toEqual(['api/a.ts -> api/b.ts', 'api/b.ts -> api/x/c.ts', 'api/x/c.ts -> api/a.ts']);
  });

  it('finds a group with too many folders', () => {
    expect(crowdedFolders(many(13, (nth) => `api/work/${nth}/a.ts`).map((path) => file(path)))).toEqual(['api/work: 13 folders']);
    expect(crowdedFolders(many(13, (nth) => `api/${nth}/a.ts`).map((path) => file(path)))).toEqual(['api: 13 folders']);
  });

  it('finds a block that stands twice', () => {
    const block = many(15, (nth) => `  call(${nth});`);
    expect(duplicates([file('api/a.ts', ...block), file('api/b.ts', 'first();', ...block)])).toEqual([
      'api/b.ts:2 as api/a.ts:1',
    ]);
    expect(duplicates([file('api/a.ts', ...block.slice(1)), file('api/b.ts', ...block.slice(1))])).toEqual([]);
  });
});
