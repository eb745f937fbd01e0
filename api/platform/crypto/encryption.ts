import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Config } from '../config.js';

/** Purpose of a key; each has its own key derived from the master key, so none decrypts another's data. */
export type Purpose =
  | 'mail'
  | 'two-factor'
  | 'one-time-code'
  | 'recovery-code'
  | 'request-code'
  | 'vault'
  | 'web-step'
  | 'web-undo'
  | 'caller';

const ALGORITHM = 'aes-256-gcm';
/** First byte of a ciphertext: the master key's id follows. The older form, 1, had no id. */
const VERSION = 2;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export type EncryptionConfig = Pick<Config, 'SECRETS_MASTER_KEY' | 'SECRETS_MASTER_KEY_PREVIOUS'>;

/** Newest first: only the newest encrypts, the others decrypt. */
const masterKeys = ({ SECRETS_MASTER_KEY, SECRETS_MASTER_KEY_PREVIOUS }: EncryptionConfig): Buffer[] =>
  [SECRETS_MASTER_KEY, ...SECRETS_MASTER_KEY_PREVIOUS].map((key) => Buffer.from(key, 'base64'));
const deriveKeyId = (master: Buffer): Buffer =>
  createHash('sha256').update('assent master key').update(master).digest().subarray(0, KEY_ID_BYTES);

/** Derived keys by master key and purpose, a handful in a process: reading a request needs one each time. */
const derived = new Map<string, Buffer>();
function getKey(master: Buffer, purpose: Purpose): Buffer {
  const name = `${master.toString('base64')} ${purpose}`;
  const key = derived.get(name) ?? Buffer.from(hkdfSync('sha256', master, '', `assent ${purpose}`, 32));
  derived.set(name, key);
  return key;
}

/** Returns the ids of the configured master keys, newest first, as stored in ciphertexts; they reveal nothing about the keys. */
export const masterKeyIds = (config: EncryptionConfig): string[] =>
  masterKeys(config).map((master) => deriveKeyId(master).toString('hex'));

/** Returns nonce, tag and AES-256-GCM ciphertext. */
export function encryptWith(key: Buffer, owner: string, text: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** @throws Error when it was encrypted under another key, for another owner, or was changed */
export function decryptWith(key: Buffer, owner: string, sealed: Buffer): string {
  const body = sealed.subarray(IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

/**
 * Encrypts a text for the database under the newest master key: version byte, key id, nonce, tag, ciphertext (AES-256-GCM). `owner`
 * identifies the row; in another row decryption fails.
 */
export function encryptField(config: EncryptionConfig, purpose: Purpose, owner: string, text: string): Buffer {
  const [newest] = masterKeys(config) as [Buffer];
  return Buffer.concat([Buffer.from([VERSION]), deriveKeyId(newest), encryptWith(getKey(newest, purpose), owner, text)]);
}

/** @throws Error when its key is not configured, its owner differs, or it was changed */
export function decryptField(config: EncryptionConfig, purpose: Purpose, owner: string, sealed: Buffer): string {
  if (sealed[0] === 1) return decryptUnnamed(config, purpose, owner, sealed.subarray(1));
  if (sealed[0] !== VERSION) throw new Error('Sealed in a form that this version does not know');
  const id = sealed.subarray(1, 1 + KEY_ID_BYTES);
  const master = masterKeys(config).find((key) => deriveKeyId(key).equals(id));
  if (!master) throw new Error(`Sealed under the master key ${id.toString('hex')}, which is not at hand`);
  return decryptWith(getKey(master, purpose), owner, sealed.subarray(1 + KEY_ID_BYTES));
}

/** Decrypts the older form without key id by trying each master key. */
function decryptUnnamed(config: EncryptionConfig, purpose: Purpose, owner: string, sealed: Buffer): string {
  for (const master of masterKeys(config)) {
    try {
      return decryptWith(getKey(master, purpose), owner, sealed);
    } catch {
      // Encrypted under another key, or invalid.
    }
  }
  throw new Error('No configured master key decrypts this');
}

/** A value encrypted under its own data key, which is encrypted under the master key: a rotation rewrites only the data key. */
export interface EncryptedEnvelope {
  data_key: Buffer;
  sealed_value: Buffer;
}

/** Encrypts a long-lived value. `owner` as for `encryptField`. */
export function encryptEnvelope(config: EncryptionConfig, owner: string, value: string): EncryptedEnvelope {
  const dataKey = randomBytes(32);
  return {
    data_key: encryptField(config, 'vault', owner, dataKey.toString('base64')),
    sealed_value: encryptWith(dataKey, owner, value),
  };
}

/** @throws as `decryptField` */
export function decryptEnvelope(config: EncryptionConfig, owner: string, { data_key, sealed_value }: EncryptedEnvelope): string {
  return decryptWith(Buffer.from(decryptField(config, 'vault', owner, data_key), 'base64'), owner, sealed_value);
}

/**
 * Returns hashes of a short code under each configured key, newest first. A stolen table cannot be brute-forced without the key.
 * `owner` makes equal codes hash differently.
 */
export const keyedHashes = (config: EncryptionConfig, purpose: Purpose, owner: string, code: string): Buffer[] =>
  masterKeys(config).map((master) => createHmac('sha256', getKey(master, purpose)).update(`${owner}\0${code}`).digest());

/** Returns the hash to store for a short code. */
export const keyedHash = (...code: Parameters<typeof keyedHashes>): Buffer => keyedHashes(...code)[0] as Buffer;
