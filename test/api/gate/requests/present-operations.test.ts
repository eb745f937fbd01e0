import fc from 'fast-check';
import { presentOperations } from '../../../../api/gate/requests/present-operations.js';
import { OPERATION } from '../../../factories/requests.js';

const linesOf = (given: Record<string, unknown>, rest: object = {}) =>
  presentOperations([{ ...OPERATION, ...rest, arguments: given }])[0]?.fields.map(({ name, after }) => [name, after]);

it('shows every leaf under its place', () => {
  expect(linesOf({ amount: 820, to: { iban: 'DE1', tags: ['a', ''] }, none: {}, list: [] })).toEqual([
    ['/amount', '820'],
    ['/to/iban', 'DE1'],
    ['/to/tags/[0]', 'a'],
    ['/to/tags/[1]', '""'],
    ['/none', '{}'],
    ['/list', '[]'],
  ]);
});

it('no two arguments look alike', () => {
  const alike: [object, object][] = [
    [{ to: ['a'] }, { to: { 0: 'a' } }],
    [{ to: ['a'] }, { to: { '[0]': 'a' } }],
    [{ amount: 1 }, { 'amount ': 1 }],
    [{ 'a b': 1 }, { 'a\u00a0b': 1 }],
    [{ 'a/b': 1 }, { a: { b: 1 } }],
    [{ '"a"': 1 }, { a: 1 }],
    [{ to: 'a b' }, { to: 'a\u00a0b' }],
    [{ to: 'a\u202eb' }, { to: 'a\u27e8U+202E\u27e9b' }],
    [{ to: 'a\r\nb' }, { to: 'a\nb' }],
    [{ to: 1 }, { to: '1' }],
  ];
  for (const [one, other] of alike)
    expect(linesOf(one as Record<string, unknown>)).not.toEqual(linesOf(other as Record<string, unknown>));
  const json = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }));
  const value = (given: object) => JSON.stringify(Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1)));
  fc.assert(
    fc.property(json, json, (one, other) => {
      if (value(one) !== value(other)) expect(linesOf(one)).not.toEqual(linesOf(other));
    }),
  );
});

it('an argument is no claim, and none of our own fields', () => {
  expect(linesOf({ 'claimed risk': 'low', status: 'todo' }, { risk: 'high' })).toEqual([
    ['/claimed risk', 'low'],
    ['/status', 'todo'],
    ['claimed risk', 'high'],
  ]);
});
