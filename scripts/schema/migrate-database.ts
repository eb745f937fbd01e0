import type { Knex } from 'knex';
import { registerEventTypes } from '../../api/platform/events/register-event-types.js';
import { startLiveChanges } from '../../db/live-changes.js';
import { maintainPartitions } from '../../db/partitions.js';
import { migrateSchema } from '../../db/schema/migrate-schema.js';

/**
 * The migrate step: brings the schema to that of this build, and writes the rows that the code declares.
 * @param say takes one line for each thing done
 * @throws {SchemaError} if this build can neither migrate the schema nor run on it; nothing is changed then
 */
export async function migrateDatabase(db: Knex, say: (line: string) => void): Promise<void> {
  const { applied, newer } = await migrateSchema(db);
  if (newer.length > 0) {
    say(`left the schema alone: it is newer (${newer.join(', ')}), and this version can run on it`);
    return;
  }
  say(applied.length > 0 ? `applied ${applied.join(', ')}` : 'the schema is up to date');
  await registerEventTypes(db);
  if (await startLiveChanges(db))
    say('the database comes from a dump: clients read their lists again, and follow changes from now on');
  // A database from a backup may lack those of the present months, which the worker would make within an hour.
  const { problems } = await maintainPartitions(db);
  for (const problem of problems) say(`partition not made: ${problem}`);
}
