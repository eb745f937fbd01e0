import { readArray } from '../../../api/bulk/formats/array-reader.js';
import { type CsvRow, MAX_COLUMNS, readCsv } from '../../../api/bulk/formats/csv-reader.js';
import { isCompressed, MAX_LINE_BYTES, MAX_LINES, type ReadRecord } from '../../../api/bulk/formats/input.js';
import { readLines } from '../../../api/bulk/formats/line-reader.js';
import { parseRecord } from '../../../api/bulk/formats/parse-json.js';

/** Sends bytes in pieces of a size, as they may arrive. */
async function* pieces(bytes: string | Buffer, size: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.from(bytes);
  for (let at = 0; at < buffer.length; at += size) yield buffer.subarray(at, at + size);
}

const collect = async <T>(groups: AsyncIterable<T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const group of groups) all.push(...group);
  return all;
};
const lines = (bytes: string | Buffer, size = 7) => collect(readLines(pieces(bytes, size)));
const records = (bytes: string | Buffer, size = 7) => collect<ReadRecord>(readArray(pieces(bytes, size)));
async function rows(bytes: string | Buffer, size = 7): Promise<{ line: number; cells: Record<string, readonly string[]> }[]> {
  const all: CsvRow[] = [];
  for await (const row of readCsv(pieces(bytes, size))) all.push(row);
  return all.map(({ line, cells }) => ({ line, cells: Object.fromEntries(cells) }));
}

describe('lines', () => {
  test.each([
    [
      'LF, blank lines and no end',
      'a\n\n  \nb',
      [
        { line: 1, text: 'a' },
        { line: 4, text: 'b' },
      ],
    ],
    [
      'CRLF',
      'a\r\nb\r\n',
      [
        { line: 1, text: 'a' },
        { line: 2, text: 'b' },
      ],
    ],
    [
      'a byte order mark',
      '\ufeffa\nb\n',
      [
        { line: 1, text: 'a' },
        { line: 2, text: 'b' },
      ],
    ],
    ['nothing', '', []],
    [
      'characters cut by a chunk',
      'äöü\n漢字\n',
      [
        { line: 1, text: 'äöü' },
        { line: 2, text: '漢字' },
      ],
    ],
    [
      'a line that is no UTF-8',
      Buffer.from('a\n\xff\xfe\nb\n', 'latin1'),
      [
        { line: 1, text: 'a' },
        { line: 2, problem: 'The line is not valid UTF-8' },
        { line: 3, text: 'b' },
      ],
    ],
  ])('%s', async (_what, bytes, expected) => {
    expect(await lines(bytes, 7)).toEqual(expected);
    expect(await lines(bytes, 10_000)).toEqual(expected);
  });

  it('drops a line that is too long, and reads on', async () => {
    const found = await lines(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n${'y'.repeat(MAX_LINE_BYTES)}\nz`, 65_536);
    expect(found).toMatchObject([
      { line: 1, problem: expect.stringContaining('longer than 1,048,576 bytes') },
      { line: 2 },
      { line: 3, text: 'z' },
    ]);
  });

  it('keeps no more than one line of a gigabyte', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x78);
    let most = 0;
    async function* gigabyte(): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < 1024; sent += 1) {
        yield chunk;
        most = Math.max(most, process.memoryUsage().arrayBuffers);
      }
    }
    const before = process.memoryUsage().arrayBuffers;
    expect(await collect(readLines(gigabyte()))).toEqual([{ line: 1, problem: expect.any(String) }]);
    expect(most - before).toBeLessThan(16 * 1024 * 1024);
  });

  it('ends after a million lines', async () => {
    await expect(lines('\n'.repeat(MAX_LINES + 1), 1024 * 1024)).rejects.toThrow('more than 1,000,000 lines');
  });
});

describe('records', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  test.each([
    ['{"a":1}', { line: 3, value: { a: 1 } }],
    [`{"a":"${'['.repeat(40)}"}`, { line: 3, value: { a: '['.repeat(40) } }],
    [deep(32), { line: 3, value: expect.any(Array) }],
    [deep(33), { line: 3, problem: 'The JSON is nested deeper than 32 levels' }],
    [deep(500_000), { line: 3, problem: 'The JSON is nested deeper than 32 levels' }],
    ['{"a":', { line: 3, problem: 'The line is not valid JSON' }],
    // Strings that never end: a search from each quote would take hours.
    [`${'{'.repeat(33)}${'\\"'.repeat(500_000)}`, { line: 3, problem: 'The JSON is nested deeper than 32 levels' }],
    [`${'{}'.repeat(33)}${'\\"'.repeat(500_000)}`, { line: 3, problem: 'The line is not valid JSON' }],
  ])('of a line %#', (text, expected) => {
    expect(parseRecord(3, text)).toEqual(expected);
  });

  test.each([
    ['[]', []],
    [
      ' [ {"a":"],\\"}"} ,\n\n{"b":[1,{"c":2}]}\n]\n',
      [
        { line: 1, value: { a: '],"}' } },
        { line: 3, value: { b: [1, { c: 2 }] } },
      ],
    ],
    [
      '[1,"x",null]',
      [
        { line: 1, value: 1 },
        { line: 1, value: 'x' },
        { line: 1, value: null },
      ],
    ],
    [
      '[{"a":1},\n{bad},{"c":3}]',
      [
        { line: 1, value: { a: 1 } },
        { line: 2, problem: expect.any(String) },
        { line: 2, value: { c: 3 } },
      ],
    ],
    [
      `[${deep(40)},1]`,
      [
        { line: 1, problem: 'The JSON is nested deeper than 32 levels' },
        { line: 1, value: 1 },
      ],
    ],
    [
      `["${'x'.repeat(MAX_LINE_BYTES)}",1]`,
      [
        { line: 1, problem: expect.stringContaining('longer') },
        { line: 1, value: 1 },
      ],
    ],
  ])('of an array %#', async (text, expected) => {
    expect(await records(text, 5)).toEqual(expected);
    expect(await records(text, 65_536)).toEqual(expected);
  });

  test.each(['', '{}', '[1', '[1,]', '[,1]', '[1]x', '[1}', '\u001f\u008b', '[1]]'])(
    'refuses %j, which is no array',
    async (text) => {
      await expect(records(text)).rejects.toThrow('The file is not a JSON array');
    },
  );
});

describe('CSV', () => {
  it('reads quotes, line breaks in cells, repeated columns and a byte order mark', async () => {
    const text = '\ufeffKey,Label,Label,Text\r\n1,a,b,"x, ""y""\r\nz"\r\n\r\n2,,c,"ü"\r\n3,only\r\n4,a,b,c,beyond\r\n';
    const expected = [
      { line: 2, cells: { Key: ['1'], Label: ['a', 'b'], Text: ['x, "y"\nz'] } },
      { line: 5, cells: { Key: ['2'], Label: ['c'], Text: ['ü'] } },
      { line: 6, cells: { Key: ['3'], Label: ['only'] } },
      { line: 7, cells: { Key: ['4'], Label: ['a', 'b'], Text: ['c'] } },
    ];
    expect(await rows(text, 3)).toEqual(expected);
    expect(await rows(text, 65_536)).toEqual(expected);
  });

  test.each([
    ['no header', '', 'The file has no header line'],
    ['100,000 columns', `${'a,'.repeat(100_000)}a\n1\n`, `more than ${MAX_COLUMNS.toLocaleString('en-US')} columns`],
    ['no UTF-8', Buffer.from('a\n\xff\xfe\n', 'latin1'), 'not valid UTF-8'],
    ['UTF-8 that is cut', Buffer.from('a\n\xc3', 'latin1'), 'not valid UTF-8'],
    ['a quote that does not end', `a\n"x${'y'.repeat(100)}`, 'A quoted cell does not end'],
    ['a quote inside of a cell', 'a\nx"y\n', 'The line is not valid CSV'],
    ['a record that is too long', `a\n"${'x\n'.repeat(MAX_LINE_BYTES)}"\n`, 'longer than 1,048,576'],
  ])('refuses %s', async (_what, bytes, message) => {
    await expect(rows(bytes, 65_536)).rejects.toThrow(message);
  });
});

test.each([
  ['gzip', '1f8b08', true],
  ['zip', '504b0304', true],
  ['zstd', '28b52ffd', true],
  ['JSON', '7b2261', false],
  ['nothing', '', false],
])('sees whether a file is compressed: %s', (_what, hex, expected) => {
  expect(isCompressed(Buffer.from(hex, 'hex'))).toBe(expected);
});
