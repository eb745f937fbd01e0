import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { defaultQuota, MIB } from './check-upload.js';

/** $1 = team id, $2 = bytes, or null for the installation's default. No row: no such team. */
const statement = defineStatement({
  name: 'set_file_quota',
  text: /* sql */ `
    insert into team_storage as s (team_id, quota)
    select t.team_id, $2::bigint from teams t where t.team_id = $1 and t.deleted_at is null
    on conflict (team_id) do update set quota = excluded.quota
    returning s.bytes, s.quota`,
});

/**
 * Sets how many MiB of files a team may store; null for the default. What it stores already stays.
 * @returns bytes in use and bytes allowed
 * @throws RESOURCE_NOT_FOUND no such team
 */
export function setFileQuota(ctx: Context, teamId: string, megabytes: number | null): Promise<{ bytes: number; quota: number }> {
  return inTransaction(ctx, async (ctx) => {
    const quota = megabytes === null ? null : megabytes * MIB;
    const [row] = await run<{ bytes: number; quota: number | null }>(ctx.db, statement, [teamId, quota]);
    if (!row) throw notFound('Team');
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'files',
      action: 'update',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: teamId,
      details: { file_quota_bytes: quota },
    });
    return { bytes: row.bytes, quota: row.quota ?? defaultQuota(ctx) };
  });
}
