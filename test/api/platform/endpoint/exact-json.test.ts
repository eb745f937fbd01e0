import fc from 'fast-check';
import { canonicalJson } from '../../../../api/gate/staging/canonical.js';
import { checkExactJson } from '../../../../api/platform/endpoint/exact-json.js';
import { parseJson } from '../../../../api/platform/endpoint/read-body.js';

/** Place and sentence of a refusal; undefined for a text that passes. */
function findRefusal(text: string): { path: string; message: string } | undefined {
  try {
    checkExactJson(text);
    return undefined;
  } catch (error) {
    const { status, extra, message } = error as { status: number; extra: { reason: string; path: string }; message: string };
    expect([status, extra.reason]).toEqual([400, 'inexact_json']);
    return { path: extra.path, message };
  }
}

it.each([
  ['{"a":1,"a":1}', '/a', 'twice'],
  [String.raw`{"a":1,"\u0061":2}`, '/a', 'twice'],
  ['{"x":[{"b/c":0,"~":{"d":1,"d":2}}]}', '/x/0/~0/d', 'twice'],
  ['{"__proto__":1,"__proto__":2}', '/__proto__', 'twice'],
  ['[9007199254740993]', '/0', '9007199254740993'],
  ['{"n":12345678901234567890}', '/n', 'different values'],
  ['[1e400]', '/0', '1e400'],
  ['[1e-400]', '/0', '1e-400'],
  ['[0.1000000000000000055]', '/0', 'different values'],
  [`[${'1'.repeat(401)}]`, '/0', 'different values'],
  [String.raw`["\ud800"]`, '/0', 'surrogate'],
  [String.raw`{"a":{"\udc00x":1}}`, '/a', 'surrogate'],
  ['9007199254740993', '', '9007199254740993'],
])('%s is refused at %s', (text, path, message) => {
  expect(findRefusal(text)).toEqual({ path, message: expect.stringContaining(message) });
});

it.each([
  '0.1',
  '8.2e4',
  '-0',
  '-0.0e5',
  '1.50',
  '9007199254740992',
  '123456789012345',
  '1e21',
  '5e-324',
  '1.7976931348623157e308',
  ' { "a" : [ 1 , 2 , { } , [ ] ] , "b" : null } ',
  '{"__proto__":{"a":1},"constructor":2}',
  String.raw`["\ud83d\ude80","\"\\",""]`,
  'true',
  'null',
  '""',
])('%s is taken', (text) => {
  expect(findRefusal(text)).toBeUndefined();
});

it('takes 32 levels, and refuses the next one at its place, however deep the text', () => {
  const nest = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(parseJson(Buffer.from(nest(32)), true)).toBeDefined();
  for (const levels of [33, 500_000])
    expect(() => parseJson(Buffer.from(nest(levels)), true)).toThrow(
      expect.objectContaining({ status: 400, extra: { reason: 'inexact_json', path: '/0'.repeat(32) } }),
    );
});

it('takes every JSON text that a program writes, with blanks or without', () => {
  const texts = fc.json({ maxDepth: 8 });
  fc.assert(
    fc.property(texts, fc.constantFrom(undefined, 1, '\t'), (text, blanks) => {
      const value = JSON.parse(text) as unknown;
      if (!JSON.stringify(value).isWellFormed() || /\\ud[89a-f]/i.test(JSON.stringify(value))) return;
      expect(findRefusal(JSON.stringify(value, null, blanks))).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

it('refuses every integer that a double does not hold, and takes every double', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }), (number) => {
      const isHeld = BigInt(Number(number)) === number && String(Number(number)).replace(/e.*|\./g, '').length <= 17;
      const refusal = findRefusal(`[${number}]`);
      // What is taken is what the double's own text denotes.
      if (refusal === undefined) expect(BigInt(Number(number))).toBe(number);
      else expect(isHeld && String(Number(number)) === String(number)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) =>
      expect(findRefusal(String(number))).toBeUndefined(),
    ),
  );
});

describe('the canonical form', () => {
  class Named {
    a = 1;
  }
  it.each([
    ['a Date', new Date(0)],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a hole', Array(1)],
    ['a getter', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['an instance', new Named()],
    ['bytes', Buffer.from('a')],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['a symbol', Symbol('a')],
    ['half of a pair', '\ud800'],
  ])('refuses %s', (_what, value) => {
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });

  it('keeps __proto__ as a member, and takes objects without a prototype', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}');
    expect(canonicalJson(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}');
  });
});
