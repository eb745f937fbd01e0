import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/**
 * $1 = id, $2 = team id. The object of an upload that has not expired, or of a live file of the team. Those of other teams are not found.
 */
const statement = defineStatement({
  name: 'input_of_import',
  text: /* sql */ `
    select u.object_key, u.size::float8 as size, u.sha256 from bulk_uploads u
    where u.file_id = $1::uuid and u.team_id = $2 and u.expires_at > now()
    union all
    select f.object_key, f.size::float8, f.sha256 from files f join items i on i.item_id = f.item_id
    where f.item_id = $1::uuid::text and i.team_id = $2 and i.deleted_at is null limit 1`,
});

/** An input in the store. */
export interface StoredInput extends Record<string, unknown> {
  object_key: string;
  size: number;
  sha256: string;
}

/** Finds the bytes behind a `file_id`; undefined if the team has no such upload or file. */
export async function findInput({ db }: Pick<Context, 'db'>, teamId: string, fileId: string): Promise<StoredInput | undefined> {
  const [input] = await run<StoredInput>(db, statement, [fileId, teamId]);
  return input;
}
