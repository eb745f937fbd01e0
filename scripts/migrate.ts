import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadConfig } from '../api/platform/config.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { openDatabase } from '../db/connection.js';
import { SCHEMA_EXIT_STATUS, SchemaError } from '../db/schema/check-schema.js';
import { explainFailures } from './admin/explain-failures.js';
import { migrateDatabase } from './schema/migrate-database.js';
import { seedDemo } from './demo-data/seed-demo.js';

const USAGE = `npm run migrate -- [--seed-demo]

Migrates the database that DATABASE_URL (or DATABASE_URL_FILE) names to the schema of this version. Does nothing when it is current.

  --seed-demo  also fills an empty database with demo data, never in production

Exit status: 0 migrated, 78 this version cannot migrate that database, 1 otherwise`;

explainFailures(USAGE);
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { 'seed-demo': flag, help: flag } });
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
// Reads only the address: the migrating role has none of the service's secrets.
const file = process.env['DATABASE_URL_FILE'];
const url = file ? readFileSync(file, 'utf8').trim() : process.env['DATABASE_URL'];
if (!url) {
  console.error('Set DATABASE_URL (or DATABASE_URL_FILE) to the database to migrate');
  process.exit(1);
}
// Validated before any change. A plain migration needs no other settings; in production its role must not have them.
const config = values['seed-demo'] ? loadConfig() : undefined;
const db = openDatabase({ url, poolSize: 3, name: 'assent-migrate', statementTimeout: 0 });
try {
  await migrateDatabase(db, (line) => console.log(line));
} catch (error) {
  if (!(error instanceof SchemaError)) throw error;
  console.error(error.message);
  process.exit(SCHEMA_EXIT_STATUS);
}
if (config && (await seedDemo({ db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined })))
  console.log('demo data written');
await db.destroy();
