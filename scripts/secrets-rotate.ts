import { parseArgs } from 'node:util';
import { loadConfig } from '../api/platform/config.js';
import { masterKeyIds } from '../api/platform/crypto/encryption.js';
import { listKeyUse, rotateKeys } from '../api/automation/secrets/rotate-keys.js';
import { openDatabase } from '../db/connection.js';
import { explainFailures } from './admin/explain-failures.js';

const USAGE = `npm run secrets:rotate -- [--check]

Encrypts every stored secret with the newest master key (docs/operate/keys.md). May be interrupted and repeated.

  --check  changes nothing; lists each key with the number of its values

Exit status: 0 done, 1 no configured key decrypts some value, or another failure`;

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

explainFailures(USAGE);
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { check: flag, help: flag } });
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
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
