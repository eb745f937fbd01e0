import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Secrets = Record<string, string>;

const makeSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** The secrets of each file. A secret that is added later gets a file of its own, because a file never changes once it is there. */
const FILES: Record<string, () => Secrets> = {
  'secrets.json': () => ({
    JWT_SECRET: randomBytes(48).toString('base64url'),
    SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
    FORGE_WEBHOOK_SECRET: randomBytes(24).toString('base64url'),
    AUDIT_SIGNING_KEY: makeSigningKey(),
  }),
  'receipt-secrets.json': () => ({ RECEIPT_SIGNING_KEY: makeSigningKey() }),
};

/** Returns the secrets of a file, which is hard-linked into place unless it exists: the first process wins and the others read its values. */
function readOrMake(path: string, make: () => Secrets): Secrets {
  const read = () => JSON.parse(readFileSync(path, 'utf8')) as Secrets;
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(make(), null, 2), { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return read();
}

/** Returns the secrets of a development machine: random, created once, stored in `<dataDir>` (0600). Several processes may start together. */
export function developmentSecrets(dataDir: string): Secrets {
  mkdirSync(dataDir, { recursive: true });
  return Object.assign({}, ...Object.entries(FILES).map(([name, make]) => readOrMake(join(dataDir, name), make))) as Secrets;
}
