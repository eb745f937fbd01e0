import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Config } from './config.js';

/** What a key is for: each purpose has a key of its own, derived from the master key, so that none opens what is another's. */
type Purpose = 'mail' | 'two-factor' | 'one-time-code' | 'recovery-code';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

type KeyHolder = Pick<Config, 'SECRETS_MASTER_KEY'>;

const keyOf = ({ SECRETS_MASTER_KEY }: KeyHolder, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', Buffer.from(SECRETS_MASTER_KEY, 'base64'), '', `assent ${purpose}`, 32));

/**
 * Encrypts a text for the database: version byte, nonce, tag, AES-256-GCM. `owner` is the id of the row that it belongs to; moved to
 * another row it does not open.
 */
export function seal(config: KeyHolder, purpose: Purpose, owner: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyOf(config, purpose), iv).setAAD(Buffer.from(owner));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), iv, cipher.getAuthTag(), body]);
}

/** @throws Error when it was sealed under another key, for another row, or was changed */
export function unseal(config: KeyHolder, purpose: Purpose, owner: string, sealed: Buffer): string {
  if (sealed[0] !== VERSION) throw new Error('Sealed in a form that this version does not know');
  const body = sealed.subarray(1 + IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, keyOf(config, purpose), sealed.subarray(1, 1 + IV_BYTES))
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/** What is stored of a short code: without the key nobody can try them all against it. `owner` makes equal codes look unlike. */
export const keyedHash = (config: KeyHolder, purpose: Purpose, owner: string, code: string): Buffer =>
  createHmac('sha256', keyOf(config, purpose)).update(`${owner}\0${code}`).digest();
