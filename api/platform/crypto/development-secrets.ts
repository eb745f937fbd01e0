import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const make = (): Record<string, string> => ({
  JWT_SECRET: randomBytes(48).toString('base64url'),
  SECRETS_MASTER_KEY: randomBytes(32).toString('base64'),
  FORGE_WEBHOOK_SECRET: randomBytes(24).toString('base64url'),
  AUDIT_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
});

/**
 * Returns the secrets of a development machine: random, created once, stored in `<dataDir>/secrets.json` (0600). Several processes
 * may start together, so the file is hard-linked into place: the first wins and the others read its values.
 */
export function developmentSecrets(dataDir: string): Record<string, string> {
  const path = join(dataDir, 'secrets.json');
  const read = () => JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(dataDir, { recursive: true });
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
