import { sqlMigration } from './sql-files.js';

/** The row that tells a process whether it may run on a schema newer than its own. */
export const { up, down } = sqlMigration('0101_schema_compatibility.sql');
