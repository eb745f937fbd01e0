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
  it('has no banned word in an identifier', () => expect(bannedWords(files)).toEqual([]));
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

  it('finds a banned word inside an identifier', () => {
    expect(bannedWords([file('api/a.ts', 'const whoeverAsks = NOBODY;', "order('nobody');")])).toEqual([
      'api/a.ts: whoeverAsks',
      'api/a.ts: NOBODY',
    ]);
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
