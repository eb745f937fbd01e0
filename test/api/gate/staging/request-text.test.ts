import fc from 'fast-check';
import { OperationInput, readOperation, writeRequestText } from '../../../../api/gate/staging/request-text.js';

const PAYMENT = { system: 'payments', name: 'refund', target: 'order-7', arguments: { cents: 82_000, to: 'Ann' } };
const read = (fields: object) => readOperation(OperationInput.parse({ ...PAYMENT, ...fields }));

it.each([
  ['a system of ours', { system: 'mcp.github' }, 'is reserved'],
  ['a system of ours', { system: 'http.bank.example' }, 'is reserved'],
  ['a system of ours', { system: 'assent' }, 'is reserved'],
  ['a list', { arguments: ['rm'] }, 'must be an object'],
  ['nothing', { arguments: null }, 'must be an object'],
  ['a name that reads backwards', { name: 'refund\u202e' }, 'U+202E'],
  ['a target with a hidden part', { target: 'order\u200b-7' }, 'U+200B'],
  ['a hidden key', { arguments: { deep: [{ 'to\u2066': 'Max' }] } }, 'U+2066'],
  ['too much', { arguments: { note: 'x'.repeat(70_000) } }, 'at most 64 kB'],
])('refuses %s: %j', (_, fields, why) => {
  expect(() => read(fields)).toThrow(why);
});

it.each([{ system: 'Payments' }, { system: 'a/b' }, { system: '' }, { name: '' }, { target: '' }, { more: 1 }])(
  'is not in the form of an operation: %j',
  (fields) => {
    expect(() => read(fields)).toThrow();
  },
);

it('keeps an invisible character in a value: the page shows it', () => {
  expect(read({ arguments: { to: 'A\u202enn' } }).arguments).toEqual({ to: 'A\u202enn' });
});

it('keeps a key that changes prototypes elsewhere, in the operation, its text and its hash', () => {
  const given = JSON.parse('{"__proto__":{"admin":true},"cents":1}') as object;
  const operation = read({ arguments: given });
  expect(Object.keys(operation.arguments)).toEqual(['__proto__', 'cents']);
  const { operations } = writeRequestText({ operations: [operation] });
  expect(operations[0]?.text).toContain('"__proto__":{"admin":true}');
  const without = writeRequestText({ operations: [read({ arguments: { cents: 1 } })] });
  expect(operations[0]?.hash.equals(without.operations[0]?.hash as Buffer)).toBe(false);
});

it('shares nothing with what was sent', () => {
  const given = { cents: 1 };
  const operation = read({ arguments: given });
  given.cents = 2;
  expect(operation.arguments).toEqual({ cents: 1 });
});

it('has one text for one request, and another for every change of it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (one, other) => {
      const write = (args: object) => writeRequestText({ title: 'x', operations: [{ ...PAYMENT, arguments: args as never }] });
      const isSame = write(one).canonical === write(other).canonical;
      expect(write(one).hash.equals(write(other).hash)).toBe(isSame);
      expect(JSON.parse(write(one).canonical).operations[0].arguments).toEqual(JSON.parse(JSON.stringify(one)));
    }),
  );
});

it('has at most 256 kB', () => {
  const operations = Array.from({ length: 5 }, () => read({ arguments: { note: 'x'.repeat(60_000) } }));
  expect(writeRequestText({ operations: operations.slice(0, 4) }).operations).toHaveLength(4);
  expect(() => writeRequestText({ operations })).toThrow('at most 256 kB');
});
