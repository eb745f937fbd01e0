import fc from 'fast-check';
import { canonicalJson as serviceText, hashText } from '../../../../api/gate/staging/canonical.js';
import { canonicalJson } from '../../../../clients/typescript/canonical.js';
import { type ApprovedOperation, ReceiptVerificationError, verifyReceipt } from '../../../../clients/typescript/receipts.js';
import { receiptKeys } from '../../../../api/gate/receipts/keys.js';
import { signReceipt } from '../../../../api/gate/receipts/sign-receipt.js';
import { hashOperation } from '../../../../api/gate/staging/operation.js';
import { makeKey, redeem, TEAM } from './redeem.js';

// An object given to the verifier instead of the text: what no JSON can express, and so is not among the cases (receipts.test.ts).

const keys = receiptKeys({ RECEIPT_SIGNING_KEY: makeKey() });
const ISSUER = 'https://assent.example';
const PAYMENT = { system: 'payments', name: 'refund', target: 'order-7', arguments: { cents: 82_000 } };

/** Verifies an object with a receipt for this operation. */
async function check(given: unknown, approved: ApprovedOperation = PAYMENT) {
  const operations = [{ ...approved, sha256: hashText(hashOperation(approved).hash) }];
  const receipt = await signReceipt(redeem({ operations }), ISSUER, keys.current.key);
  const options = { jwks: keys.jwks, issuer: ISSUER, team: TEAM, system: 'payments', firstUse: () => true };
  return verifyReceipt(receipt, given as ApprovedOperation, options);
}
const withArgument = (cents: unknown) => ({ ...PAYMENT, arguments: { cents } });

it('returns a copy, which the object given cannot change', async () => {
  const given = structuredClone(PAYMENT);
  const operation = await check(given);
  given.arguments.cents = 820_000;
  expect(operation).toEqual(PAYMENT);
  expect(() => Object.assign(operation.arguments, { cents: 1 })).toThrow('read only');
});

it('reads a member once: what is hashed is what is returned', async () => {
  let reads = 0;
  const changing = new Proxy(
    { cents: 0 },
    {
      getOwnPropertyDescriptor: () => ({ value: reads++ === 0 ? 82_000 : 820_000, enumerable: true, configurable: true }),
      get: () => 820_000,
    },
  );
  expect(await check({ ...PAYMENT, arguments: changing })).toEqual(PAYMENT);
});

it('takes objects without a prototype', async () => {
  expect(await check(Object.assign(Object.create(null), PAYMENT))).toEqual(PAYMENT);
});

const hidden = Object.defineProperty({}, 'cents', { value: 82_000, enumerable: false });
const holed: unknown[] = Object.assign(Array(3), { 0: 1, 2: 3 });
const computed = Object.defineProperty([1], '0', { get: () => 1, enumerable: true });
const circular: Record<string, unknown> = {};
circular['self'] = circular;
class Amount {
  cents = 82_000;
}

it.each<[string, unknown]>([
  ['a member that is computed', Object.defineProperty({}, 'cents', { get: () => 82_000, enumerable: true })],
  ['a member that is hidden', hidden],
  ['a symbol', { cents: 82_000, [Symbol('more')]: 1 }],
  ['toJSON', { cents: 1, toJSON: () => ({ cents: 82_000 }) }],
  ['an object of a class', new Amount()],
  ['an object that inherits', Object.create({ cents: 82_000 })],
  ['a date', { cents: new Date(0) }],
  ['a map', { cents: new Map() }],
  ['a set', { cents: new Set() }],
  ['bytes', { cents: Uint8Array.of(1) }],
  ['a boxed number', { cents: Object(82_000) as unknown }],
  ['a promise', { cents: Promise.resolve(82_000) }],
  ['a list with a hole', { cents: holed }],
  ['a list of holes', { cents: Array(3) }],
  ['a list with a hole and a member', { cents: Object.assign(Array(2), { 1: 2, more: 1 }) }],
  ['a list with a member', { cents: Object.assign([1], { more: 1 }) }],
  ['a list with an element that is computed', { cents: computed }],
  ['a list of a class', { cents: class extends Array<number> {}.of(1) }],
  ['undefined', { cents: 82_000, memo: undefined }],
  ['a function', { cents: () => 82_000 }],
  ['a large integer', { cents: 82_000n }],
  ['no number', { cents: Number.NaN }],
  ['a number beyond all', { cents: Number.POSITIVE_INFINITY }],
  ['a circle', circular],
])('refuses %s', async (_, given) => {
  const refusal = check({ ...PAYMENT, arguments: given });
  await expect(refusal).rejects.toThrow('The operation is no plain JSON');
  await expect(refusal).rejects.toBeInstanceOf(ReceiptVerificationError);
});

it.each([null, undefined, 7, [], {}])('refuses what is no operation: %p', async (given) => {
  await expect(check(given)).rejects.toBeInstanceOf(ReceiptVerificationError);
});

it('refuses another value', async () => {
  await expect(check(withArgument(820_000))).rejects.toThrow('People approved another operation');
  await expect(check({ ...PAYMENT, summary: 'A refund' })).rejects.toThrow('People approved another operation');
});

it('writes every value as the service does, and refuses what it refuses', () => {
  const text = (write: (value: unknown) => string, value: unknown) => {
    try {
      return write(value);
    } catch {
      return undefined;
    }
  };
  const characters = fc.string({ unit: 'binary' });
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 6 }),
    fc.object({ key: characters, values: [characters, fc.double(), fc.constant(null)], maxDepth: 3 }),
    fc.double(),
  );
  fc.assert(
    fc.property(value, (each) => expect(text(canonicalJson, each)).toBe(text(serviceText, each))),
    { numRuns: 2_000 },
  );
});
