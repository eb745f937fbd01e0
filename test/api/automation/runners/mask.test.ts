import fc from 'fast-check';
import { maskEnd, maskPart, maskText } from '../../../../api/automation/runners/logs/mask.js';
import { SPELLINGS, type Spelling } from '../../../support/encodings.js';

/** Masks a text that arrives in parts, as the log of a job does. */
function inParts(values: string[], parts: string[]): string {
  let tail = '';
  let out = '';
  for (const part of parts) {
    const masked = maskPart(values, tail, part);
    out += masked.text;
    ({ tail } = masked);
  }
  return out + maskEnd(values, tail);
}
/** Between characters, as the chunks of a log are. */
const split = (text: string, sizes: number[]): string[] => {
  const characters = Array.from(text);
  const parts = sizes.map((size) => characters.splice(0, size).join(''));
  return [...parts, characters.join('')];
};

const Sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 });
/** Few letters, so that secrets overlap with themselves, with each other and with what surrounds them. */
const letters = (min: number, max: number) =>
  fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: min, maxLength: max }).map((each) => each.join(''));

it('never shows a secret, wherever it is split', () => {
  fc.assert(
    fc.property(
      fc.array(letters(5, 12), { minLength: 1, maxLength: 3 }),
      letters(0, 60),
      letters(0, 30),
      Sizes,
      (values, before, after, sizes) => {
        const text = `${before}${values.join('x')}${after}`;
        const shown = inParts(values, split(text, sizes));
        for (const value of values) expect(shown).not.toContain(value);
      },
    ),
    { numRuns: 500 },
  );
});

it('leaves what holds no secret as it is, but for an end that may be the beginning of one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), Sizes, (text, sizes) => {
      const rest = text.replaceAll(/[s-z]/g, '');
      expect(inParts(['zzz-very-secret'], split(rest, sizes))).toBe(rest);
      expect(inParts([], split(text, sizes))).toBe(text);
    }),
  );
});

it('knows the usual encodings, and the lines of a secret with several', () => {
  const value = 'Pass word/+"ü';
  const forms = [
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('hex'),
    encodeURIComponent(value),
    JSON.stringify(value),
  ];
  // The last bits of a base64 text depend on what follows it.
  for (const form of forms) expect(maskText([value], `<${form}>`)).toMatch(/^<"?\*\*\*.{0,3}>$/);
  const key = '-----BEGIN KEY-----\nline-one\nline-two\n-----END KEY-----\n';
  expect(maskText([key], 'a line-one b\r\n line-two')).toBe('a *** b\r\n ***');
});

const inLines = (text: string, width: number, end = '\n') => (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(end);

it.each([
  ['base64 by its command', 'base64', 76, '\n'],
  ['base64 by OpenSSL', 'base64', 64, '\r\n'],
  ['hex of a dump', 'hex', 60, '\n'],
  ['base64 indented in YAML', 'base64', 70, '\n    '],
] as const)('masks a long secret that is printed in lines: %s', (_how, code, width, end) => {
  const long = Array.from({ length: 40 }, (_none, at) => `part${at}_Zz${at * 7919}`).join('.');
  for (const [values, most] of [
    [[long], 8],
    [[long, 'b'.repeat(9_000)], 8],
  ] as const) {
    for (const around of ['', 'user:']) {
      const text = inLines(Buffer.from(`${around}${long}`).toString(code), width, end);
      expect(maskText([...values], `< ${text}\n>`)).toMatch(/^< .{0,12}\*\*\*[^*]{0,8}>$/s);
      for (const size of [1, 7, 75, 400]) {
        const shown = inParts(
          [...values],
          split(
            `< ${text}\n>`,
            Array.from({ length: 2_000 / size }, () => size),
          ),
        );
        expect(shown.replaceAll('***', '').length).toBeLessThan(20 + most);
      }
    }
  }
});

it('lines that are not one secret stay apart', () => {
  expect(maskText(['abcdef'], 'abc\ndef\n')).toBe('abc\ndef\n');
  expect(maskText(['a-long-secret-value-1'], 'one\na-long-secret-value-1\ntwo\n')).toBe('one\n***\ntwo\n');
});

it.each([
  ['a shell that traces its commands', (text: string) => `+ deploy '${text.replaceAll("'", `'\\''`)}'`],
  ['Python for a shell', (text: string) => `$ deploy '${text.replaceAll("'", `'"'"'`)}'`],
])('masks what is quoted by %s', (_who, quote) => {
  const secret = "it's-9fK2'x-zLm4";
  expect(maskText([secret], quote(secret))).toMatch(/^. deploy '\*\*\*'$/);
  expect(inParts([secret], Array.from(quote(secret)))).toMatch(/^. deploy '\*\*\*'$/);
});

it('takes a hostile log in linear time', () => {
  const value = 'a'.repeat(60_000);
  const shown = inParts(
    [value],
    Array.from({ length: 12 }, () => 'a'.repeat(30_000)),
  );
  expect(shown).not.toContain('a'.repeat(60_000));
});

const { json, php, python, go, html, percent } = SPELLINGS;
const spell = (text: string, ways: readonly Spelling[]): string => ways.reduce((written, way) => way(written), text);
const HIDDEN = ['k3y/withSl4sh/9+Zq==', 'pässwörd-ünïque-😀', 'pa"ss\\word-77\n', 'p<w>&d-9x7', '&lt;%41%2541-literal'];

it.each<[string, Spelling[]]>([
  ['in JSON', [json]],
  ['by PHP', [php]],
  ['by Python', [python]],
  ['in HTML', [html]],
  ['in JSON four deep', [json, json, json, json]],
  ['in JSON of Python, twice', [python, python]],
  ['in JSON of PHP in JSON of Go', [php, go]],
  ['in HTML in HTML', [html, html]],
  ['in JSON in HTML in JSON', [json, html, json]],
  ['in an address in an address in JSON', [percent, percent, php]],
  ['in an address four deep', [percent, percent, percent, percent]],
])('masks what is written %s, wherever it is split', (_how, ways) => {
  for (const secret of HIDDEN) {
    const [before, hidden, after] = ['a: "', secret, '", b: 12.'].map((text) => spell(text, ways)) as [string, string, string];
    const [text, masked] = [`${before}${hidden}${after}`, `${before}***${after}`];
    expect(maskText([secret], text)).toBe(masked);
    const { length } = Array.from(text);
    for (let at = 0; at <= length; at += 1) expect([at, inParts([secret], split(text, [at]))]).toEqual([at, masked]);
    expect(inParts([secret], Array.from(text))).toBe(masked);
  }
});

it('masks any secret in any encoding, wherever it is split', () => {
  const secret = fc.string({ minLength: 8, maxLength: 24, unit: 'binary' });
  const ways = fc.array(fc.constantFrom(...Object.values(SPELLINGS)), { maxLength: 4 });
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 12 }), ways, Sizes, (hidden, around, chosen, sizes) => {
      fc.pre(!around.includes(hidden));
      const text = spell(`${around}|${hidden}|${around}`, chosen);
      const shown = inParts([hidden], split(text, sizes));
      expect(shown).toContain('***');
      expect(shown).not.toContain(spell(hidden, chosen));
      expect(shown.length).toBeLessThanOrEqual(2 * spell(`${around}|`, chosen).length + 2 * '***'.length);
    }),
    { numRuns: 500 },
  );
});

it('masks the end of a log that is most of a secret, whatever encoding it is cut in', () => {
  const secret = 'secret: "ß", "ö"';
  for (const ways of [[python], [json, json], [percent, percent], [html]]) {
    const text = spell(secret, ways);
    for (let end = 8; end < text.length; end += 1) {
      expect(inParts([secret], [`then ${text.slice(0, 5)}`, text.slice(5, end)])).toBe('then ***');
    }
  }
  for (const rest of ['100%', 'a\\', 'Tom &amp', '\\u00', '%2']) expect(inParts([secret], ['so ', rest])).toBe(`so ${rest}`);
});

it('holds back little of a log that is made to look like an endless escape', () => {
  for (const part of ['\\', '%25', '&amp;', '\\u005c', 'a']) {
    let tail = '';
    for (let chunk = 0; chunk < 40; chunk += 1) {
      ({ tail } = maskPart([`${'a'.repeat(40)}b`, `${'\\'.repeat(40)}b`], tail, part.repeat(4_096 / part.length)));
      expect(tail.length).toBeLessThan(12_000);
    }
  }
});
