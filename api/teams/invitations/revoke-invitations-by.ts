import { run, type Statement } from '../../../db/statement.js';
import type { Context } from '../../core/context.js';

/** $1 team, $2 who invited. */
const statement: Statement = {
  name: 'drop_invitations_of',
  text: /* sql */ `
    update invitations set revoked_at = now()
    where team_id = $1 and invited_by = $2 and accepted_at is null and revoked_at is null returning invitation_id`,
};

/**
 * Takes back what somebody who manages the team no longer had invited: else a leaving admin comes back by another address. The caller
 * holds the team. Returns how many there were.
 */
export async function revokeInvitationsBy({ db }: Pick<Context, 'db'>, teamId: string, userId: string): Promise<number> {
  return (await run(db, statement, [teamId, userId])).length;
}
