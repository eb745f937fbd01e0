import { timingSafeEqual } from 'node:crypto';
import { type EncryptionConfig, keyedHashes } from '../../../platform/crypto/encryption.js';

/** Crockford's base32: no letter looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 6;

const spell = (hash: Buffer): string => Array.from(hash.subarray(0, LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');

const listCodes = (config: EncryptionConfig, requestId: string, revision: number): string[] =>
  keyedHashes(config, 'request-code', requestId, String(revision)).map(spell);

/** Returns the code of a revision, which only the requester is told, such as `K7Q-M2D`. */
export function buildCode(config: EncryptionConfig, requestId: string, revision: number): string {
  const [code = ''] = listCodes(config, requestId, revision);
  return `${code.slice(0, 3)}-${code.slice(3)}`;
}

/** Whether a person typed the code; case, dashes and letters that look like digits do not matter. */
export function isCode(config: EncryptionConfig, requestId: string, revision: number, typed: string): boolean {
  const normal = typed.toUpperCase().replaceAll(/[-\s]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  if (!new RegExp(`^[${ALPHABET}]{${LENGTH}}$`).test(normal)) return false;
  return listCodes(config, requestId, revision).some((code) => timingSafeEqual(Buffer.from(code), Buffer.from(normal)));
}
