import { generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import { verifyReceipt } from '../../../../clients/typescript/receipts.js';
import { receiptKeys } from '../../../../api/gate/receipts/keys.js';
import { type Redemption, signReceipt } from '../../../../api/gate/receipts/sign-receipt.js';
import { hashText } from '../../../../api/gate/staging/canonical.js';
import { hashOperation } from '../../../../api/gate/staging/operation.js';
import { parseJson } from '../../../../api/platform/endpoint/read-body.js';
import type { Section } from '../../report.js';
import { below, Times } from './people.js';

const COUNT = 3_000;
const WARM_UP = 1_000;
const ISSUER = 'https://assent.bench.test';
const OPERATION = {
  system: 'payments',
  name: 'deploy',
  target: 'eu-1',
  arguments: { version: '4.2', hosts: ['a', 'b'], note: 'The fix of the sign-in' },
};

/** A use of an approval of one operation. */
function buildRedemption(): Redemption {
  const { system, name, target } = OPERATION;
  return {
    request_id: randomUUID(),
    request_hash: `sha256:${'0f'.repeat(32)}`,
    team_id: randomUUID(),
    revision: 1,
    role: 'manager',
    allow_self: false,
    operations: [{ system, name, target, sha256: hashText(hashOperation(OPERATION).hash) }],
    approved_by: [{ user_id: randomUUID(), at: new Date().toISOString() }],
    redemption_id: randomUUID(),
    redeemed_at: new Date(),
    receipt_seconds: 300,
  };
}

/** Signing and verifying a receipt, beside the bare signature and its verification by node:crypto. */
export const receiptsSection: Section = async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const keys = receiptKeys({ RECEIPT_SIGNING_KEY: pem } as Parameters<typeof receiptKeys>[0]);
  const times = new Times(WARM_UP);
  const { text } = hashOperation(OPERATION);
  for (let nth = 0; nth < COUNT + WARM_UP; nth += 1) {
    const redemption = buildRedemption();
    const receipt = await times.take('signing', () => signReceipt(redemption, ISSUER, keys.current.key));
    const bytes = Buffer.from(receipt.slice(0, receipt.lastIndexOf('.')));
    const signature = await times.take('bare signature', async () => sign(null, bytes, privateKey));
    const options = { jwks: keys.jwks, issuer: ISSUER, team: redemption.team_id, system: 'payments', firstUse: () => true };
    await times.take('verifying', () => verifyReceipt(receipt, text, options));
    const isValid = await times.take('bare verification', async () => verify(null, bytes, publicKey, signature));
    if (!isValid) throw new Error('The bare signature is wrong');
  }
  return [
    {
      name: 'a receipt of one operation, in one process',
      goals: [below('signing, p50', times.get('signing', 0.5), 0.3), below('verifying, p50', times.get('verifying', 0.5), 0.3)],
      notes: times.describe(),
    },
  ];
};

const BODY_BYTES = 70_000;

/** A body of about 70 kB as programs send it: many small members, texts and numbers. */
function buildBody(): Buffer {
  const rows: object[] = [];
  const build = () => JSON.stringify({ title: 'Prices of the summer', operation: { ...OPERATION, arguments: { rows } } });
  for (let nth = 0; build().length < BODY_BYTES; nth += 1)
    rows.push({ sku: `A-${nth}`, price: nth + 0.25, currency: 'EUR', stock: nth * 7, active: nth % 3 === 0, note: 'Größe “M” ' });
  return Buffer.from(build());
}

/** Reading a body that every program must read alike, beside JSON.parse. */
export const exactJsonSection: Section = async () => {
  const body = buildBody();
  const times = new Times(WARM_UP / 5);
  for (let nth = 0; nth < COUNT / 5; nth += 1) {
    await times.take('exact JSON', async () => parseJson(body, true));
    await times.take('JSON.parse', async () => JSON.parse(body.toString()) as unknown);
  }
  return [
    {
      name: `a body of ${(body.length / 1_000).toFixed(0)} kB that must be exact JSON, in one process`,
      goals: [below('p50', times.get('exact JSON', 0.5), 5)],
      notes: times.describe(),
    },
  ];
};
