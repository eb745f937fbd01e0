import type { Knex } from 'knex';
import { defineStatement, run } from './statement.js';

const statement = defineStatement({ name: 'start_live_changes', text: 'select start_live_changes() as moved' });

/** Deletes the changes of another database cluster, whose order ended with it. A part of each migration. @returns whether there was another one */
export async function startLiveChanges(db: Knex): Promise<boolean> {
  const [row] = await run<{ moved: boolean }>(db, statement, []);
  return row?.moved ?? false;
}
