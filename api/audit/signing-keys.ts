import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../platform/config.js';

/** Public keys by id. */
export type PublicKeys = Map<string, KeyObject>;

const PEM = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

/** Returns the first 16 hexadecimal digits of the SHA-256 of the public key (SPKI, DER). */
export const deriveKeyId = (key: KeyObject): string =>
  createHash('sha256')
    .update((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

/**
 * Returns the key that signs checkpoints.
 * @throws Error if it is no Ed25519 key
 */
export function signingKey({ AUDIT_SIGNING_KEY }: Pick<Config, 'AUDIT_SIGNING_KEY'>): KeyObject {
  const key = createPrivateKey(AUDIT_SIGNING_KEY);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('AUDIT_SIGNING_KEY must be an Ed25519 key');
  return key;
}

/** Returns the public keys of all PEM blocks in `text`, private or public. */
function parseKeys(text: string, source: string): [string, KeyObject][] {
  const blocks = text.match(PEM) ?? [];
  if (blocks.length === 0) throw new Error(`${source} holds no key in PEM form`);
  return blocks.map((pem) => {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${source} holds a key that is not Ed25519`);
    return [deriveKeyId(key), key];
  });
}

/**
 * Returns the keys whose signatures are trusted: those of `path` (a PEM file or a folder of them) only; without `path`, AUDIT_SIGNING_KEY
 * and AUDIT_SIGNING_KEY_PREVIOUS. Never the keys published beside the checkpoints, because an attacker with write access there could add
 * one.
 * @throws Error if `path` is missing or contains anything but Ed25519 keys
 */
export function trustedKeys(config: Pick<Config, 'AUDIT_SIGNING_KEY' | 'AUDIT_SIGNING_KEY_PREVIOUS'>, path?: string): PublicKeys {
  if (path === undefined) {
    const current = createPublicKey(signingKey(config));
    const previous = config.AUDIT_SIGNING_KEY_PREVIOUS;
    return new Map([[deriveKeyId(current), current], ...(previous ? parseKeys(previous, 'AUDIT_SIGNING_KEY_PREVIOUS') : [])]);
  }
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith('.pem'))
        .map((name) => join(path, name))
    : [path];
  if (files.length === 0) throw new Error(`${path} holds no .pem file`);
  return new Map(files.flatMap((file) => parseKeys(readFileSync(file, 'utf8'), file)));
}

/** Returns the folder with the public half of each key that ever signed. */
export const publicKeyDir = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, 'audit-keys');

/** Publishes the public half of `key` beside the checkpoints, for witnesses and readers of exports. Written once. */
export async function publishKey(config: Pick<Config, 'DATA_DIR'>, key: KeyObject): Promise<void> {
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  await mkdir(publicKeyDir(config), { recursive: true });
  await writeFile(join(publicKeyDir(config), `${deriveKeyId(key)}.pem`), pem, { flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}
