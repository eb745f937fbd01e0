import { createPrivateKey, createPublicKey } from 'node:crypto';
import { z } from 'zod';

const privateKey = z.string().includes('PRIVATE KEY');

/** Keys of receipts: each is trusted for an hour after its last signature, that of the audit for ever. */
const receiptSettings = {
  RECEIPT_SIGNING_KEY: privateKey.describe('Ed25519 private key (PEM) that signs receipts of redeemed requests'),
  RECEIPT_SIGNING_KEY_NEXT: privateKey
    .optional()
    .describe('The key (PEM) that replaces it; published from 10 minutes before, so that verifiers know it'),
  RECEIPT_SIGNING_KEY_PREVIOUS: privateKey
    .optional()
    .describe('The key (PEM) that it replaced; until 70 minutes after, published and used for repeated redemptions'),
};

/** Settings of the keys that sign, PEM. */
export const signingSettings = {
  AUDIT_SIGNING_KEY: privateKey.describe('Ed25519 private key (PEM) that signs audit checkpoints'),
  AUDIT_SIGNING_KEY_PREVIOUS: z
    .string()
    .includes('KEY-----')
    .optional()
    .describe('Earlier keys (PEM, the public key suffices) that verify older audit checkpoints'),
  ...receiptSettings,
};

type ReceiptKeySettings = { [name in keyof typeof receiptSettings]?: string | undefined };

/** Returns the public key of an Ed25519 private key (PEM); undefined for anything else. */
function readPublicKey(pem: string): string | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? createPublicKey(key).export({ format: 'jwk' }).x : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a line for each signing key of receipts that is no Ed25519 key, or is the audit key too. */
export function receiptKeyProblems(given: ReceiptKeySettings & { AUDIT_SIGNING_KEY: string }): string[] {
  const auditKey = readPublicKey(given.AUDIT_SIGNING_KEY);
  return (Object.keys(receiptSettings) as (keyof ReceiptKeySettings)[]).flatMap((name) => {
    const pem = given[name];
    if (pem === undefined) return [];
    const key = readPublicKey(pem);
    if (key === undefined) return [`${name}: must be an Ed25519 private key (PEM, without a passphrase)`];
    return key === auditKey ? [`${name}: must differ from AUDIT_SIGNING_KEY`] : [];
  });
}
