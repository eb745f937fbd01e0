import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { signReceipt } from '../../../../api/gate/receipts/sign-receipt.js';
import { canonicalJson } from '../../../../api/gate/staging/canonical.js';
import { type ApprovedOperation, verifyReceipt, type VerifyReceiptOptions } from '../../../../clients/typescript/receipts.js';
import { type ReceiptCase, receiptCasesText } from '../../../../scripts/client/receipt-cases.js';
import { redeem } from './redeem.js';

// What an attacker may try with a receipt, and what the service signs. test/api/gate/receipts/python.test.ts runs the same cases.

const CASES = new URL('../../../../clients/receipt-cases.json', import.meta.url);
const { options: common, cases } = JSON.parse(readFileSync(CASES, 'utf8')) as {
  options: Pick<VerifyReceiptOptions, 'jwks' | 'issuer' | 'team' | 'system' | 'approvals'> & { now: number };
  cases: ReceiptCase[];
};

it('the cases are made from the product as it is now; if not: npm run client', async () => {
  expect(await receiptCasesText()).toBe(readFileSync(CASES, 'utf8'));
  const names = cases.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

/** Verifies the call as the service that executes does. Returns the operation's text or the message of the error, and what was stored. */
async function verify({ receipt, operation_text, compare, options }: ReceiptCase['calls'][0], used: Set<string>) {
  const { now, ...others } = { ...common, ...options };
  const stored: unknown[] = [];
  const firstUse = (key: string, until: number) => {
    stored.push([key, until]);
    return used.size < used.add(key).size;
  };
  const operation = compare ? (JSON.parse(operation_text) as ApprovedOperation) : operation_text;
  return verifyReceipt(receipt, operation, { ...others, now: now * 1_000, firstUse }).then(
    (operation) => ({ operation: JSON.stringify(operation), stored }),
    (error: Error) => ({ refused: `${error.name}: ${error.message}`, stored }),
  );
}

it.each(cases.map((each) => [each.name, each] as const))('%s', async (_, { calls }) => {
  const used = new Set<string>();
  for (const call of calls) {
    expect(await verify(call, used)).toEqual({
      ...(call.refused === undefined
        ? { operation: JSON.stringify(JSON.parse(canonicalJson(JSON.parse(call.operation_text)))) }
        : { refused: `ReceiptVerificationError: ${call.refused}` }),
      stored: call.first_use ? [call.first_use] : [],
    });
  }
});

const accepted = cases.find(({ name }) => name === 'accepts the operation as it was redeemed')
  ?.calls[0] as ReceiptCase['calls'][0];
const check = (options: Partial<VerifyReceiptOptions> = {}) =>
  verifyReceipt(accepted.receipt, accepted.operation_text, {
    ...common,
    now: common.now * 1_000,
    firstUse: () => true,
    ...options,
  });

it('gives a copy that nothing changes afterwards', async () => {
  const operation = await check();
  expect(() => Object.assign(operation.arguments, { cents: 1 })).toThrow('read only');
  expect(() => Object.assign(operation, { target: 'order-8' })).toThrow('read only');
});

it.each([undefined, null, 1, 'yes', { rowCount: 0 }, Promise.resolve({})])('takes no %p for a first use', async (answer) => {
  await expect(check({ firstUse: () => answer as never })).rejects.toThrow('executed before');
});

it('passes on that the first use could not be stored', async () => {
  await expect(check({ firstUse: () => Promise.reject(new Error('no database')) })).rejects.toThrow('no database');
});

it.each([{ approvals: 0 }, { approvals: Number.NaN }, { now: Number.NaN }])(
  'refuses options that check nothing: %p',
  async (options) => {
    await expect(check(options)).rejects.toThrow(RangeError);
  },
);

describe('the service', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const issue = (receipt_seconds = 300) => signReceipt(redeem({ receipt_seconds }), 'https://assent.example', privateKey);

  it('signs the same redemption to the same bytes', async () => {
    // It has the second of its redemption, so that one is signed twice.
    const redeemed = redeem({ receipt_seconds: 300 });
    const sign = () => signReceipt(redeemed, 'https://assent.example', privateKey);
    expect(await sign()).toBe(await sign());
  });

  it('signs for an hour at most', () => {
    for (const seconds of [3_601, 0, -1, Number.NaN]) expect(() => issue(seconds)).toThrow(RangeError);
  });
});
