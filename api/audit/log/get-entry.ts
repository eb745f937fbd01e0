import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { JsonText } from '../../platform/endpoint/endpoint.js';
import { coveredTeams } from './covered-teams.js';
import { readRecords } from './find-entries.js';
import type { EntryKey } from './entries.sql.js';

/** $1 = id, $2 = teams. */
const keyStatement = defineStatement({
  name: 'audit_key',
  text: /* sql */ `
    select s.audit_id, s.chain as team_id, s.sequence, s.entry_hash from audit_seals s
    where s.audit_id = $1 and s.chain = any($2::uuid[])`,
});

/** Returns one entry of the teams that the caller administers. @throws PERMISSION_DENIED, RESOURCE_NOT_FOUND */
export async function getEntry(ctx: Context, auditId: string): Promise<JsonText> {
  const teams = await coveredTeams(ctx);
  const record = await readRecords(ctx, await run<EntryKey & Record<string, unknown>>(ctx.db, keyStatement, [auditId, teams]));
  if (record === '') throw notFound('Audit entry', { detail: 'Your teams have no entry with this id.' });
  return new JsonText(record);
}
