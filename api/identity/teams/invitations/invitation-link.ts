import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Seat } from '../../../platform/access/access.js';
import type { Config } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { isUuid } from '../../../platform/ids.js';

/** What the link of an invitation tells its holder. */
export interface LinkedInvitation {
  invitation_id: string;
  team_id: string;
  team_name: string;
  inviter_name: string;
  role: Seat;
  /** The invited address; null for a user invited by id. */
  email: string | null;
}

/** Ids of invitations are no secrets: the link proves that it was mailed, or that an admin of the team gave it on. */
const keyOf = (config: Config, invitationId: string): string =>
  createHmac('sha256', config.JWT_SECRET).update(`invitation link\0${invitationId}`).digest('base64url');

/** Returns the page that an invitation's email leads to, which admins of the team may copy. It grants nothing: the address of the signed-in user decides. */
export const invitationPath = (config: Config, invitationId: string): `/app/${string}` =>
  `/app/invitations/${invitationId}?key=${keyOf(config, invitationId)}`;

/** Compares in constant time. */
function isOurKey(config: Config, invitationId: string, key: string): boolean {
  const [expected, actual] = [Buffer.from(keyOf(config, invitationId)), Buffer.from(key)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** $1 = invitation id. */
const statement = defineStatement({
  name: 'read_linked_invitation',
  text: /* sql */ `
    select i.invitation_id, i.team_id, t.name as team_name, by.display_name as inviter_name, i.role, i.email
    from invitations i join teams t using (team_id) join users by on by.user_id = i.invited_by
    where i.invitation_id = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > now() and t.deleted_at is null
      and by.status = 'active'`,
});

/**
 * Returns a pending invitation to the holder of its link, signed in or not. Undefined for a guessed key as for an invitation that was accepted,
 * revoked or has expired: nobody learns which.
 */
export async function readLinkedInvitation(
  ctx: Context,
  invitationId: string,
  key: string,
): Promise<LinkedInvitation | undefined> {
  if (!isUuid(invitationId) || !isOurKey(ctx.config, invitationId, key)) return undefined;
  const [row] = await run<LinkedInvitation & Record<string, unknown>>(ctx.db, statement, [invitationId]);
  return row;
}
