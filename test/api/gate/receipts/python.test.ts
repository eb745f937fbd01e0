import { spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReceiptCase } from '../../../../scripts/client/receipt-cases.js';

// The verifier in Python, in a process of its own and without any installed package, with the cases of the TypeScript one (receipts.test.ts).

const VERIFIER = resolve('docs/verify-receipt.py');
const { options: common, cases } = JSON.parse(readFileSync('clients/receipt-cases.json', 'utf8')) as {
  options: Record<string, unknown>;
  cases: ReceiptCase[];
};

interface Given {
  case: string;
  receipt: string;
  operation_text: string;
  options: Record<string, unknown>;
  answer?: unknown;
}

/** @throws Error without Python 3 */
function runPython(given: { calls: Given[]; signatures?: string[][] }) {
  const input = JSON.stringify({ signatures: [], ...given });
  const { status, stdout, stderr, error } = spawnSync(
    'python3',
    ['-I', '-S', '-B', resolve(import.meta.dirname, 'run-cases.py'), VERIFIER],
    { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (error) throw new Error('python3 (3.8 or newer) does not start; on Debian: apt-get install python3', { cause: error });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as { calls: { operation?: unknown; refused?: string; stored: unknown[] }[]; signatures: boolean[] };
}

/** It takes the text only. */
const textCases = cases
  .map(({ name, calls: each }) => ({ name, calls: each.filter(({ compare }) => !compare) }))
  .filter(({ calls: each }) => each.length > 0);
const calls = textCases.flatMap(({ name, calls: each }) =>
  each.map(({ receipt, operation_text, options }) => ({
    case: name,
    receipt,
    operation_text,
    options: { ...common, ...options },
  })),
);
let results: ReturnType<typeof runPython>['calls'];
beforeAll(() => {
  // As texts, or the comparison would pass over a key __proto__.
  results = runPython({ calls }).calls.map(({ operation, ...others }) => ({
    ...(operation !== undefined && { operation: JSON.stringify(operation) }),
    ...others,
  }));
});

it.each(textCases.map((each) => [each.name, each] as const))('%s', (name, { calls: expected }) => {
  expect(results.filter((_, at) => calls[at]?.case === name)).toEqual(
    expected.map(({ operation_text, refused, first_use }) => ({
      ...(refused === undefined
        ? { operation: JSON.stringify(JSON.parse(operation_text)) }
        : { refused: `ReceiptError: ${refused}` }),
      stored: first_use ? [first_use] : [],
    })),
  );
});

const accepted = calls.find((call) => call.case === 'accepts the operation as it was redeemed') as Given;

it('takes nothing but true for a first use', () => {
  const answers = [null, 1, 'yes', { rowcount: 0 }].map((answer) => ({ ...accepted, answer }));
  for (const { refused } of runPython({ calls: answers }).calls)
    expect(refused).toBe('ReceiptError: The operation was executed before');
});

it('refuses options that check nothing, and keys that are none', () => {
  const { keys } = common['jwks'] as { keys: object[] };
  const given = [{ approvals: 0 }, { now: 'NaN' }, { jwks: { keys: [{ ...keys[0], x: 'AQ' }] } }].map((options) => ({
    ...accepted,
    options: { ...accepted.options, ...options },
  }));
  expect(runPython({ calls: given }).calls.map(({ operation, stored }) => ({ operation, stored }))).toEqual(
    given.map(() => ({ operation: undefined, stored: [] })),
  );
});

it('verifies signatures as OpenSSL does', () => {
  const bytes = (text: string, length: number) => createHash('shake256', { outputLength: length }).update(text).digest();
  const tried = Array.from({ length: 100 }, (_, nth) => {
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), bytes(`key ${nth}`, 32)]);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const message = bytes(`message ${nth}`, nth);
    const signature = sign(null, message, key);
    const flipped = Buffer.from(signature);
    flipped.writeUInt8(flipped.readUInt8(nth % 64) ^ (1 << (nth % 8)), nth % 64);
    return [
      { key, message, signature },
      { key, message, signature: flipped },
      { key, message: Buffer.concat([message, Buffer.of(0)]), signature },
      { key, message, signature: bytes(`signature ${nth}`, 64) },
    ];
  }).flat();
  const signatures = tried.map(({ key, message, signature }) => [
    Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex'),
    message.toString('hex'),
    signature.toString('hex'),
  ]);
  const expected = tried.map(({ key, message, signature }) => verify(null, message, createPublicKey(key), signature));
  expect(expected.filter(Boolean)).toHaveLength(100);
  expect(runPython({ calls: [], signatures }).signatures).toEqual(expected);
});
