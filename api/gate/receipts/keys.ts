import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Config } from '../../platform/config.js';
import { deriveKeyId } from '../../audit/signing-keys.js';
import type { PublicKeySet } from './schema.js';

type ReceiptKeyConfig = Pick<Config, 'RECEIPT_SIGNING_KEY' | 'RECEIPT_SIGNING_KEY_NEXT' | 'RECEIPT_SIGNING_KEY_PREVIOUS'>;

interface ReceiptKeys {
  /** Signs new receipts. */
  current: { key_id: string; key: KeyObject };
  /** Returns the private key that signs a receipt again, also during a rotation; undefined if its key was dropped. */
  byId: (keyId: string) => KeyObject | undefined;
  /** The public halves, each once. */
  jwks: PublicKeySet;
}

const known = new WeakMap<ReceiptKeyConfig, ReceiptKeys>();

/** Reads private keys, the one in use first. */
function readKeys(pems: [string, ...(string | undefined)[]]): ReceiptKeys {
  const [key, ...others] = pems.flatMap((pem) => (pem === undefined ? [] : [createPrivateKey(pem)])) as [KeyObject];
  const keys = new Map([key, ...others].map((each) => [deriveKeyId(each), each]));
  return {
    current: { key_id: deriveKeyId(key), key },
    byId: (keyId) => keys.get(keyId),
    jwks: {
      keys: [...keys].map(([kid, each]) => {
        const { x = '' } = createPublicKey(each).export({ format: 'jwk' });
        return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' };
      }),
    },
  };
}

/**
 * Returns the keys of receipts: the one in use, the next one, which is published before it signs, and the previous one, whose receipts are
 * still out. All are private, because during a rotation one process repeats redemptions of another. Read once for each configuration.
 */
export function receiptKeys(config: ReceiptKeyConfig): ReceiptKeys {
  let keys = known.get(config);
  if (!keys) {
    keys = readKeys([config.RECEIPT_SIGNING_KEY, config.RECEIPT_SIGNING_KEY_NEXT, config.RECEIPT_SIGNING_KEY_PREVIOUS]);
    known.set(config, keys);
  }
  return keys;
}
