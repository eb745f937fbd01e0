import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { readTeam } from '../read-team.js';
import { INVITATION_COLUMNS, type InvitationRow, present } from './present.js';
import type { Invitation } from './schema.js';

/** $1 = team id. */
const statement = defineStatement({
  name: 'list_invitations',
  text: /* sql */ `
    select ${INVITATION_COLUMNS} from invitations
    where team_id = $1 and accepted_at is null and revoked_at is null order by created_at, invitation_id`,
});

/**
 * Lists the pending and expired invitations of a team, oldest first.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export async function listInvitations(ctx: Context, teamId: string): Promise<Invitation[]> {
  const { seat } = await readTeam(ctx, teamId);
  authorize('member.manage', seat);
  return (await run<InvitationRow>(ctx.db, statement, [teamId])).map(present);
}
