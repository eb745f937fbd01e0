import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadConfig } from '../api/platform/config.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { openDatabase } from '../db/connection.js';
import { SCHEMA_EXIT_STATUS, SchemaError } from '../db/schema/check-schema.js';
import { migrateDatabase } from './schema/migrate-database.js';
import { seedDemo } from './demo-data/seed-demo.js';

/**
 * Migrates the database to this build's schema; with --seed-demo also fills an empty one with the demo data, never in production.
 */
const { values } = parseArgs({ options: { 'seed-demo': { type: 'boolean', default: false } } });
// Reads only the address: the migrating role has none of the service's secrets.
const file = process.env['DATABASE_URL_FILE'];
const url = file ? readFileSync(file, 'utf8').trim() : process.env['DATABASE_URL'];
if (!url) throw new Error('Set DATABASE_URL (or DATABASE_URL_FILE) to the database to migrate');
// Validated before any change. A plain migration needs no other settings; in production its role must not have them.
const config = values['seed-demo'] ? loadConfig() : undefined;
const db = openDatabase({ url, poolSize: 2, name: 'assent-migrate', statementTimeout: 0 });
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
