import type { Team } from '../../../db/models/team.js';
import { run, type Statement } from '../../../db/statement.js';
import type { Seat } from '../../core/access.js';
import { webAddress } from '../../core/config.js';
import { type Context, userOf } from '../../core/context.js';
import { conflict, invalid } from '../../core/errors.js';
import { recordChange } from '../../core/record-change.js';
import { queueMail } from '../../mail/queue-mail.js';
import { INVITATION_COLUMNS, type InvitationRow, present } from './present.js';
import type { Invitation } from './schema.js';

/** Days until an invitation lapses (B2). */
const LIFE_DAYS = 7;
/** Open ones of a team: nobody sends mail to the world by way of us. */
const MOST_OPEN = 100;

/** $1 team, $2 address, $3 role, $4 who invites. One that lapsed begins anew; no row: one is open already. */
const insertStatement: Statement = {
  name: 'insert_invitation',
  text: /* sql */ `
    insert into invitations as i (team_id, email, role, invited_by, expires_at)
    values ($1, $2, $3, $4, now() + interval '${LIFE_DAYS} days')
    on conflict (team_id, email) where accepted_at is null and revoked_at is null
    do update set role = excluded.role, invited_by = excluded.invited_by, expires_at = excluded.expires_at, created_at = now()
      where i.expires_at <= now()
    returning ${INVITATION_COLUMNS}`,
};

const countStatement: Statement = {
  name: 'count_open_invitations',
  text: `select count(*)::int as open from invitations
    where team_id = $1 and accepted_at is null and revoked_at is null and expires_at > now()`,
};

/**
 * Invites an address without an account, by mail, into a team that the caller holds (holdTeam) and may manage.
 * @throws RESOURCE_CONFLICT is invited already | INVALID_REQUEST 100 invitations are open
 * Source: decision B2.
 */
export async function invitePerson(ctx: Context, team: Team, email: string, role: Seat): Promise<Invitation> {
  const [counted] = await run<{ open: number }>(ctx.db, countStatement, [team.team_id]);
  if ((counted?.open ?? 0) >= MOST_OPEN) throw invalid(`${MOST_OPEN} invitations are open already`);
  const [row] = await run<InvitationRow>(ctx.db, insertStatement, [team.team_id, email, role, userOf(ctx)]);
  if (!row) throw conflict('This address is invited already');
  await recordChange(ctx, {
    team_id: team.team_id,
    feature: 'teams',
    action: 'invite',
    severity: 'MEDIUM',
    entity_type: 'team',
    entity_id: team.team_id,
    title: team.name,
    summary: `invited ${email}`,
    details: { invitation_id: row.invitation_id, email, role },
  });
  const [by] = await ctx
    .db('users')
    .where({ user_id: userOf(ctx) })
    .pluck<string[]>('display_name');
  await queueMail(ctx, {
    to: email,
    template: 'team-invitation',
    data: { team: team.name, by: by as string, role, days: LIFE_DAYS, url: webAddress(ctx.config, '/app/invitations') },
    usefulMinutes: LIFE_DAYS * 24 * 60,
  });
  return present(row);
}
