import { presentOperations } from '../../../api/gate/requests/present-operations.js';
import { wordPlace } from '../../../api/web/wording/place-words.js';

const placesOf = (given: Record<string, unknown>): string[] =>
  (presentOperations([{ system: 's', name: 'n', target: null, arguments: given }])[0]?.fields ?? []).map(({ name }) => name);

it('names an argument in words', () => {
  const given = {
    amount: 1,
    customer: { notify: true, 'full name': 'x' },
    lines: [{ sku: 'a' }, { sku: 'b' }],
    'a/b': 1,
    'x~y': 2,
  };
  expect(placesOf(given).map(wordPlace)).toEqual([
    'amount',
    'customer · notify',
    'customer · full name',
    'lines · #1 · sku',
    'lines · #2 · sku',
    'a/b',
    'x~y',
  ]);
});

it('no two arguments read alike, and none like a claim', () => {
  const given = {
    a: { b: 1, '#1': 2, '"#1"': 3 },
    'a · b': 4,
    list: [1, { '[0]': 2 }],
    '#1': 5,
    'claimed risk': 6,
    'definition of the tool': 7,
    '"claimed risk"': 8,
    '"a · b"': 9,
    '/a/b': 10,
    '~1a': 11,
  };
  const words = placesOf(given).map(wordPlace);
  expect(new Set(words).size).toBe(words.length);
  for (const claim of ['claimed risk', 'definition of the tool', 'a · b · c']) expect(words).not.toContain(claim);
  expect(words.filter((text) => text === 'a · b')).toHaveLength(1);
});
