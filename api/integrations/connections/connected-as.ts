import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** $1 = provider, $2 = account at the provider. */
const statement = defineStatement({
  name: 'connected_as',
  text: `select user_id from integration_connections where provider = $1 and lower(account) = lower($2) order by user_id`,
});

/** Returns the ids of the users connected to a service as this account, ignoring case; none for an unknown account. */
export async function connectedAs(db: Knex, provider: string, account: string | null): Promise<string[]> {
  if (account === null) return [];
  return (await run<{ user_id: string }>(db, statement, [provider, account])).map(({ user_id }) => user_id);
}
