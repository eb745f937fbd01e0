import { receiptKeys } from '../../../../api/gate/receipts/keys.js';
import { signReceipt } from '../../../../api/gate/receipts/sign-receipt.js';
import { verifyReceipt } from '../../../../clients/typescript/receipts.js';
import { hashOperation } from '../../../../api/gate/staging/operation.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { makeKey, OPERATION, redeem, TEAM } from './redeem.js';

const [first, second, third] = [makeKey(), makeKey(), makeKey()];
const { text } = hashOperation(OPERATION);
const REDEMPTION = redeem();

it('are read once for each configuration', () => {
  const config = { RECEIPT_SIGNING_KEY: first };
  expect(receiptKeys(config)).toBe(receiptKeys(config));
  expect(receiptKeys({ RECEIPT_SIGNING_KEY: second }).current.key_id).not.toBe(receiptKeys(config).current.key_id);
});

it('are published once each, without what signs', () => {
  const { current, jwks } = receiptKeys({ RECEIPT_SIGNING_KEY: first, RECEIPT_SIGNING_KEY_NEXT: first });
  expect(jwks.keys).toEqual([
    { kty: 'OKP', crv: 'Ed25519', kid: current.key_id, x: expect.stringMatching(/^[\w-]{43}$/), alg: 'EdDSA', use: 'sig' },
  ]);
});

it('through a rotation every receipt is verified by what is published, and signed again to the same bytes', async () => {
  const published = receiptKeys({ RECEIPT_SIGNING_KEY: first, RECEIPT_SIGNING_KEY_NEXT: second });
  const swapped = receiptKeys({ RECEIPT_SIGNING_KEY: second, RECEIPT_SIGNING_KEY_PREVIOUS: first });
  const dropped = receiptKeys({ RECEIPT_SIGNING_KEY: second });
  const old = published.current;
  const sign = (key = old.key) => signReceipt(REDEMPTION, 'https://assent.example', key);
  const verify = (receipt: string, { jwks }: typeof published) =>
    verifyReceipt(receipt, text, {
      jwks,
      issuer: 'https://assent.example',
      team: TEAM,
      system: 'payments',
      firstUse: () => true,
    });
  expect(swapped.current.key_id).not.toBe(old.key_id);
  expect(await sign(swapped.byId(old.key_id))).toBe(await sign());
  // A verifier whose keys are five minutes old knows the key that signs from now on; processes are replaced one after the other.
  for (const { current } of [published, swapped])
    for (const keys of [published, swapped]) {
      expect(keys.byId(current.key_id)?.equals(current.key)).toBe(true);
      expect(await verify(await sign(current.key), keys)).toEqual(OPERATION);
    }
  expect(dropped.byId(old.key_id)).toBeUndefined();
  await expect(verify(await sign(), dropped)).rejects.toThrow('signed by another key');
});

describe('GET /api/receipts/jwks', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ RECEIPT_SIGNING_KEY: first, RECEIPT_SIGNING_KEY_NEXT: second, RECEIPT_SIGNING_KEY_PREVIOUS: third });
  });
  afterAll(() => app.close());

  it('publishes the three keys without a credential, for five minutes', async () => {
    const { status, headers, body } = await app.as().get('/api/receipts/jwks');
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(body).toEqual(receiptKeys(app.services.config).jwks);
    expect(body.keys).toHaveLength(3);
    expect(JSON.stringify(body)).not.toMatch(/"d"|PRIVATE/);
  });

  it('a refusal there is kept by nobody', async () => {
    const { status, headers } = await app.as().post('/api/receipts/jwks', {});
    expect([status, headers.get('cache-control')]).toEqual([405, 'no-store']);
  });
});
