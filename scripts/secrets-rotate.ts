import { parseArgs } from 'node:util';
import { loadConfig } from '../api/platform/config.js';
import { masterKeyIds } from '../api/platform/crypto/encryption.js';
import { listKeyUse, rotateKeys } from '../api/automation/secrets/rotate-keys.js';
import { openDatabase } from '../db/connection.js';

/** Prints the configured keys and their use; a key that is used but not configured shows as lost. */
async function printUse(vault: Parameters<typeof rotateKeys>[0]): Promise<void> {
  const use = await listKeyUse(vault);
  const [newest, ...previous] = masterKeyIds(vault.config);
  const ids = [...new Set([newest as string, ...previous, ...use.map(({ key_id }) => key_id)])];
  for (const id of ids) {
    const role =
      id === newest ? 'newest' : previous.includes(id) ? 'opens only' : id === 'unnamed' ? 'older form' : 'NOT AT HAND';
    const held = use.filter(({ key_id }) => key_id === id).map(({ table, count }) => `${table} ${count}`);
    console.log(`  ${id.padEnd(8)}  ${role.padEnd(11)}  ${held.join(', ') || 'nothing'}`);
  }
}

/**
 * `npm run secrets:rotate`: re-encrypts everything under the newest master key (docs/operate/keys.md). Safe to interrupt
 * and repeat. --check only reports which keys are in use. Exits with 1 if no configured key decrypts a value.
 */
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const config = loadConfig();
const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-secrets-rotate', statementTimeout: 0 });
try {
  if (!values.check) {
    const { resealed, unopened } = await rotateKeys({ db, config }, (count) => console.log(`  ${count} sealed anew`));
    console.log(`${resealed} values sealed under the newest key`);
    for (const { table, count } of unopened)
      console.log(`${count} of ${table} decrypt with no configured key: nothing was changed there`);
    if (unopened.length > 0) process.exitCode = 1;
  }
  console.log('Master keys');
  await printUse({ db, config });
} finally {
  await db.destroy();
}
