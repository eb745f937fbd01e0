import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { DomainError, invalid, notFound } from '../../../platform/errors.js';

/** Where a file goes. */
export interface FilePlace {
  team_id: string;
  project_id: string | null;
}

/**
 * $1 = user id, $2 = team id, $3 = project id or null. Returns the team of the live project, or the live team, with the caller's role and
 * what the team stores. No row: there is no such project or team.
 */
const statement = defineStatement({
  name: 'place_of_upload',
  text: /* sql */ `
    select place.team_id, s.bytes, s.quota,
      (select m.role from memberships m where m.team_id = place.team_id and m.user_id = $1) as seat
    from (
      select p.team_id from projects p where p.project_id = $3::uuid and p.deleted_at is null
      union all
      select t.team_id from teams t where $3::uuid is null and t.team_id = $2 and t.deleted_at is null
    ) place left join team_storage s using (team_id)`,
});

interface Row extends Record<string, unknown> {
  team_id: string;
  bytes: number | null;
  quota: number | null;
  seat: Seat | null;
}

export const MIB = 1024 * 1024;

/** Bytes that a team may store if its own quota is not set. */
export const defaultQuota = (ctx: Context): number => ctx.config.FILE_QUOTA_MB * MIB;

export const quotaExceeded = () =>
  new DomainError('QUOTA_EXCEEDED', 'The team has no room for this file', {
    detail: 'Purge files from the trash, which count too, or ask the administrator for a larger quota.',
  });

/**
 * Checks before the first byte is read whether the caller may upload here. The transaction that stores the file checks again.
 * @returns bytes that the team may still store
 * @throws RESOURCE_NOT_FOUND no such project or team | PERMISSION_DENIED non-member or guest | INVALID_REQUEST the project belongs to
 * another team | QUOTA_EXCEEDED
 */
export async function checkUpload(ctx: Context, { team_id, project_id }: FilePlace): Promise<number> {
  const [place] = await run<Row>(ctx.db, statement, [requireUser(ctx), team_id, project_id]);
  if (!place) throw notFound(project_id === null ? 'Team' : 'Project');
  authorize('item.write', place.seat);
  if (place.team_id !== team_id) throw invalid('project_id belongs to another team');
  const left = (place.quota ?? defaultQuota(ctx)) - (place.bytes ?? 0);
  if (left < 0) throw quotaExceeded();
  return left;
}
