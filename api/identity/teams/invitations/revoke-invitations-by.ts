import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** $1 = team id, $2 = inviting user. */
const statement = defineStatement({
  name: 'drop_invitations_of',
  text: /* sql */ `
    update invitations set revoked_at = now()
    where team_id = $1 and invited_by = $2 and accepted_at is null and revoked_at is null returning invitation_id`,
});

/**
 * Revokes the pending invitations of a former admin, who could otherwise return under another address. The caller locked the team.
 * Returns their number.
 */
export async function revokeInvitationsBy({ db }: Pick<Context, 'db'>, teamId: string, userId: string): Promise<number> {
  return (await run(db, statement, [teamId, userId])).length;
}
