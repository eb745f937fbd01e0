import { defineStatement, run } from '../../../../db/statement.js';
import type { Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { ListOwnInvitations, OwnInvitation } from './schema.js';

interface Row extends Record<string, unknown> {
  invitation_id: string;
  team_id: string;
  team_name: string;
  role: Seat;
  inviter_name: string;
  created_at: Date;
  expires_at: Date;
}

/** $1 = user id, $2 = row limit, $3 = offset. */
const statement = defineStatement({
  name: 'list_own_invitations',
  text: /* sql */ `
    select i.invitation_id, i.team_id, t.name as team_name, i.role, by.display_name as inviter_name, i.created_at, i.expires_at
    from users me join invitations i on i.email = me.email or i.user_id = me.user_id join teams t using (team_id) join users by on by.user_id = i.invited_by
    where me.user_id = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > now() and t.deleted_at is null and by.status = 'active'
    order by i.created_at, i.invitation_id limit $2 offset $3`,
});

/** Lists the caller's pending invitations, by their verified email address or their id. */
export async function listOwnInvitations(ctx: Context, { limit, offset }: ListOwnInvitations): Promise<OwnInvitation[]> {
  const rows = await run<Row>(ctx.db, statement, [requireUser(ctx), limit, offset]);
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }));
}
