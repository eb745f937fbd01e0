import type { Team } from '../../../../db/models/team.js';
import { User } from '../../../../db/models/identity/user.js';
import { defineStatement, run, type Statement } from '../../../../db/statement.js';
import type { Seat } from '../../../platform/access/access.js';
import { webAddress } from '../../../platform/config.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { queueMail } from '../../../platform/mail/queue-mail.js';
import { invitationPath } from './invitation-link.js';
import { INVITATION_COLUMNS, type InvitationRow, present } from './present.js';
import type { Invitation } from './schema.js';

/** Days until an invitation expires. */
const LIFE_DAYS = 7;
/**
 * Pending invitations per team, and invitations per user and day over all teams; they prevent spam
 * (docs/decisions/identity.md#invitation-limits).
 */
const MAX_PENDING = 100;
const MAX_DAILY = 200;
/** Invitation emails per address and day: over all teams, and of one inviting user, who cannot use up those of the others. */
const MAX_DAILY_MAILS = 5;
const MAX_DAILY_MAILS_OF_USER = 2;

/** An address, or a user whose address the team does not learn. */
export type Invitee = { email: string } | { user_id: string };

/** $1 = team id, $2 = invited address or user id, $3 = role, $4 = inviting user. Renews an expired invitation; no row: one is pending. */
const insertStatement = (column: 'email' | 'user_id'): Statement =>
  defineStatement({
    name: `insert_invitation_${column}`,
    text: /* sql */ `
    insert into invitations as i (team_id, ${column}, role, invited_by, expires_at)
    values ($1, $2, $3, $4, now() + interval '${LIFE_DAYS} days')
    on conflict (team_id, ${column}) where accepted_at is null and revoked_at is null
    do update set role = excluded.role, invited_by = excluded.invited_by, expires_at = excluded.expires_at, created_at = now()
      where i.expires_at <= now()
    returning ${INVITATION_COLUMNS}`,
  });
const insertStatements = { email: insertStatement('email'), user_id: insertStatement('user_id') };

/** $1 = team id, $2 = inviting user. Concurrent invitations for several teams may exceed the second limit by a few. */
const countStatement = defineStatement({
  name: 'count_invitations',
  text: /* sql */ `
    select (select count(*)::int from invitations
        where team_id = $1 and accepted_at is null and revoked_at is null and expires_at > now()) as pending,
      (select count(*)::int from invitations where invited_by = $2 and created_at > now() - interval '1 day') as sent`,
});

/** $1 = address. Serializes invitations of the same address over all teams, so that both count right. */
const lockAddress = defineStatement({
  name: 'lock_invited_address',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 14))',
});

/** $1 = address, locked, $2 = inviting user. Counts the invitations of its user by id too, and the one to be mailed. */
const countMails = defineStatement({
  name: 'count_invitation_mails',
  text: /* sql */ `
    select sum(least(sent, ${MAX_DAILY_MAILS_OF_USER}))::int as mailed, (sum(sent) filter (where invited_by = $2))::int as own from (
      select invited_by, count(*) as sent from invitations
      where (email = $1 or user_id = (select user_id from users where email = $1)) and created_at > now() - interval '1 day'
      group by invited_by
    ) by_user`,
});

/** Returns the address to which the invitation is mailed. */
async function findAddress(ctx: Context, invitee: Invitee): Promise<string> {
  if ('email' in invitee) return invitee.email;
  const user = (await User.query(ctx.db).findById(invitee.user_id).select('email')) as User;
  return user.email;
}

/** @throws INVALID_REQUEST too many pending in the team, or sent by the caller within a day */
async function checkQuota(ctx: Context, teamId: string): Promise<void> {
  const [counted] = await run<{ pending: number; sent: number }>(ctx.db, countStatement, [teamId, requireUser(ctx)]);
  if ((counted?.pending ?? 0) >= MAX_PENDING) throw invalid(`At most ${MAX_PENDING} invitations can be pending`);
  if ((counted?.sent ?? 0) >= MAX_DAILY) throw invalid(`At most ${MAX_DAILY} invitations a day; try again later`);
}

/** Emails the invitation. Beyond the daily limit the address sees it in the app only; the inviting team is not told. */
async function mailInvitation(ctx: Context, team: Team, email: string, { role, invitation_id }: InvitationRow): Promise<void> {
  const [counted] = await run<{ mailed: number; own: number }>(ctx.db, countMails, [email, requireUser(ctx)]);
  if (!counted || counted.own > MAX_DAILY_MAILS_OF_USER || counted.mailed > MAX_DAILY_MAILS) return;
  const by = (await User.query(ctx.db).findById(requireUser(ctx)).select('display_name')) as User;
  await queueMail(ctx, {
    to: email,
    template: 'team-invitation',
    data: {
      team: team.name,
      by: by.display_name,
      role,
      days: LIFE_DAYS,
      url: webAddress(ctx.config, invitationPath(ctx.config, invitation_id)),
    },
    usefulMinutes: LIFE_DAYS * 24 * 60,
  });
}

/**
 * Invites an address, or a user by id, to a team that the caller locked (lockTeam) and may manage. Does not check whether an address has an
 * account: the user who has verified the address accepts. An invitation by id shows the team neither name nor address of the user, and
 * one by address does not collide with it: that would tell whose address it is.
 * @throws RESOURCE_CONFLICT already invited | INVALID_REQUEST 100 invitations are pending, or 200 were sent within a day
 */
export async function invitePerson(ctx: Context, team: Team, invitee: Invitee, role: Seat): Promise<Invitation> {
  await checkQuota(ctx, team.team_id);
  const email = await findAddress(ctx, invitee);
  await run(ctx.db, lockAddress, [email]);
  const [column, value] = 'email' in invitee ? (['email', email] as const) : (['user_id', invitee.user_id] as const);
  const [row] = await run<InvitationRow>(ctx.db, insertStatements[column], [team.team_id, value, role, requireUser(ctx)]);
  if (!row) throw conflict(column === 'email' ? 'This address is already invited' : 'This user is already invited');
  await recordChange(ctx, {
    team_id: team.team_id,
    feature: 'teams',
    action: 'invite',
    severity: 'MEDIUM',
    entity_type: 'team',
    entity_id: team.team_id,
    title: team.name,
    summary: `invited ${row.email ?? 'a user'}`,
    details: { invitation_id: row.invitation_id, ...invitee, role },
  });
  await mailInvitation(ctx, team, email, row);
  return present(row);
}
