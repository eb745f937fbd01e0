import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadConfig } from '../api/core/config.js';
import { registerEventTypes } from '../api/core/events/register-event-types.js';
import { createLogger } from '../api/core/telemetry/log.js';
import { openDatabase } from '../db/connection.js';
import { migrationSource } from '../db/migrations/index.js';
import { maintainPartitions } from '../db/partitions.js';
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
const [, applied] = (await db.migrate.latest({ migrationSource })) as [number, string[]];
console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'the schema is up to date');
await registerEventTypes(db);
// A database from a backup may lack those of the present months, which the worker would make within an hour.
const { problems } = await maintainPartitions(db);
for (const problem of problems) console.warn(`partition not made: ${problem}`);
if (config && (await seedDemo({ db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined })))
  console.log('demo data written');
await db.destroy();
