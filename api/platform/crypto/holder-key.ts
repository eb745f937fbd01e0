import { hkdfSync } from 'node:crypto';
import { decryptWith, encryptWith } from './encryption.js';

/**
 * Encryption that only the holder of a token can undo: the key is derived from the token, of which the service stores the hash. `owner`
 * identifies the row; in another row decryption fails.
 */
const getKey = (token: string): Buffer => Buffer.from(hkdfSync('sha256', token, '', 'assent holder key', 32));

export const encryptForHolder = (token: string, owner: string, text: string): Buffer => encryptWith(getKey(token), owner, text);

/** @throws Error when it was encrypted for another token or owner, or was changed */
export const decryptForHolder = (token: string, owner: string, sealed: Buffer): string =>
  decryptWith(getKey(token), owner, sealed);
