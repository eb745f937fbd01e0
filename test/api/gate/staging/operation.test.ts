import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { hashText } from '../../../../api/gate/staging/canonical.js';
import { hashOperation, hashRequest, type Operation } from '../../../../api/gate/staging/operation.js';

const REFUND: Operation = {
  system: 'payments',
  name: 'refund',
  target: 'order/1',
  arguments: { amount: 82_000, currency: 'EUR' },
};

/** The hash as a verifier in another language computes it: the prefix, then the bytes of the text. */
const sha256 = (text: string) => createHash('sha256').update(text).digest();

it('hashes the canonical text after the prefix of its kind', () => {
  const { text, hash } = hashOperation(REFUND);
  expect(text).toBe('{"arguments":{"amount":82000,"currency":"EUR"},"name":"refund","system":"payments","target":"order/1"}');
  expect(hash).toEqual(sha256(`assent.operation.v1\n${text}`));
  expect(hashText(hash)).toBe('sha256:583411e4cd35cad5b0ec301c216feef3254509a8c6a2065bea2958f584831525');
  expect(hashRequest(text)).toEqual(sha256(`assent.request.v1\n${text}`));
});

it('leaves out what the requester claims about the operation', () => {
  const claimed = { ...REFUND, summary: 'Refund an order', risk: 'low', reversible: true };
  expect(hashOperation(claimed)).toEqual(hashOperation(REFUND));
});

it('takes the same number in other words, and members in another order', () => {
  const other = JSON.parse(
    '{"arguments":{"currency":"EUR","amount":8.2e4},"target":"order/1","name":"refund","system":"payments"}',
  ) as Operation;
  expect(hashOperation(other)).toEqual(hashOperation(REFUND));
});

it.each<[string, Partial<Operation>]>([
  ['ten times the amount', { arguments: { amount: 820_000, currency: 'EUR' } }],
  ['a number as text', { arguments: { amount: '82000', currency: 'EUR' } }],
  ['one more argument', { arguments: { amount: 82_000, currency: 'EUR', force: null } }],
  ['a member __proto__', { arguments: JSON.parse('{"amount":82000,"currency":"EUR","__proto__":{}}') as Operation['arguments'] }],
  ['another target', { target: 'order/2' }],
  ['no target', { target: null }],
  ['another name', { name: 'refund_all' }],
  ['another system', { system: 'payments2' }],
  ['a name in another normal form', { name: 'refund\u0301' }],
  ['a tool', { tool_hash: 'ab' }],
])('has another hash with %s', (_what, change) => {
  expect(hashOperation({ ...REFUND, ...change }).hash).not.toEqual(hashOperation(REFUND).hash);
});

it('has the text of the value that is parsed from it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (given) => {
      const { text } = hashOperation({ ...REFUND, arguments: given });
      expect(hashOperation(JSON.parse(text) as Operation).text).toBe(text);
    }),
  );
});

it('refuses arguments that are not plain JSON', () => {
  expect(() => hashOperation({ ...REFUND, arguments: { at: new Date(0) } })).toThrow(TypeError);
});
