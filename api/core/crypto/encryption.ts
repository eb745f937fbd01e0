import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Config } from '../config.js';

/** What a key is for: each purpose has a key of its own, derived from the master key, so that none opens what is another's. */
export type Purpose = 'mail' | 'two-factor' | 'one-time-code' | 'recovery-code' | 'vault' | 'web-step';

const ALGORITHM = 'aes-256-gcm';
/** The first byte: which master key follows by name. The form before it, 1, named none. */
const VERSION = 2;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export type EncryptionConfig = Pick<Config, 'SECRETS_MASTER_KEY' | 'SECRETS_MASTER_KEY_PREVIOUS'>;

/** The newest first: it alone seals, the others only open. */
const masterKeys = ({ SECRETS_MASTER_KEY, SECRETS_MASTER_KEY_PREVIOUS }: EncryptionConfig): Buffer[] =>
  [SECRETS_MASTER_KEY, ...SECRETS_MASTER_KEY_PREVIOUS].map((key) => Buffer.from(key, 'base64'));
const idOf = (master: Buffer): Buffer =>
  createHash('sha256').update('assent master key').update(master).digest().subarray(0, KEY_ID_BYTES);
const keyOf = (master: Buffer, purpose: Purpose): Buffer => Buffer.from(hkdfSync('sha256', master, '', `assent ${purpose}`, 32));

/** Names of the master keys at hand, newest first, as they stand in what they sealed; they tell nothing of the key. */
export const masterKeyIds = (config: EncryptionConfig): string[] =>
  masterKeys(config).map((master) => idOf(master).toString('hex'));

/** Nonce, tag, AES-256-GCM. */
function encrypt(key: Buffer, owner: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** @throws Error when it was encrypted under another key, for another owner, or was changed */
function decrypt(key: Buffer, owner: string, sealed: Buffer): string {
  const body = sealed.subarray(IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/**
 * Encrypts a text for the database under the newest master key: version byte, the key's name, nonce, tag, AES-256-GCM. `owner` is
 * what identifies the row that it belongs to; moved to another row it does not open.
 */
export function encryptField(config: EncryptionConfig, purpose: Purpose, owner: string, text: string): Buffer {
  const [newest] = masterKeys(config) as [Buffer];
  return Buffer.concat([Buffer.from([VERSION]), idOf(newest), encrypt(keyOf(newest, purpose), owner, text)]);
}

/** @throws Error when its key is not at hand, it was sealed for another row, or was changed */
export function decryptField(config: EncryptionConfig, purpose: Purpose, owner: string, sealed: Buffer): string {
  if (sealed[0] === 1) return unsealUnnamed(config, purpose, owner, sealed.subarray(1));
  if (sealed[0] !== VERSION) throw new Error('Sealed in a form that this version does not know');
  const id = sealed.subarray(1, 1 + KEY_ID_BYTES);
  const master = masterKeys(config).find((key) => idOf(key).equals(id));
  if (!master) throw new Error(`Sealed under the master key ${id.toString('hex')}, which is not at hand`);
  return decrypt(keyOf(master, purpose), owner, sealed.subarray(1 + KEY_ID_BYTES));
}

/** What was sealed before keys had names: the right key is the one that opens it. */
function unsealUnnamed(config: EncryptionConfig, purpose: Purpose, owner: string, sealed: Buffer): string {
  for (const master of masterKeys(config)) {
    try {
      return decrypt(keyOf(master, purpose), owner, sealed);
    } catch {
      // Another key's, or nobody's.
    }
  }
  throw new Error('No master key at hand opens this');
}

/** A value under a data key of its own, and that key sealed under the master key: a rotation touches the key alone. */
export interface EncryptedEnvelope {
  data_key: Buffer;
  sealed_value: Buffer;
}

/** Encrypts what is kept for long (F12). `owner` as for `seal`. */
export function encryptEnvelope(config: EncryptionConfig, owner: string, value: string): EncryptedEnvelope {
  const dataKey = randomBytes(32);
  return {
    data_key: encryptField(config, 'vault', owner, dataKey.toString('base64')),
    sealed_value: encrypt(dataKey, owner, value),
  };
}

/** @throws as `unseal` */
export function decryptEnvelope(config: EncryptionConfig, owner: string, { data_key, sealed_value }: EncryptedEnvelope): string {
  return decrypt(Buffer.from(decryptField(config, 'vault', owner, data_key), 'base64'), owner, sealed_value);
}

/**
 * What may be stored of a short code, under each key at hand, the newest first: without the key nobody can try all codes against
 * it. `owner` makes equal codes look unlike.
 */
export const keyedHashes = (config: EncryptionConfig, purpose: Purpose, owner: string, code: string): Buffer[] =>
  masterKeys(config).map((master) => createHmac('sha256', keyOf(master, purpose)).update(`${owner}\0${code}`).digest());

/** What is stored of a short code from now on. */
export const keyedHash = (...code: Parameters<typeof keyedHashes>): Buffer => keyedHashes(...code)[0] as Buffer;
