import { Membership } from '../../db/models/membership.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { conflict, notFound } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { seatOf } from '../core/seats.js';
import { holdTeam } from './hold-team.js';
import { readMember } from './read-members.js';
import type { AddMember, Member } from './schema.js';

/** @throws RESOURCE_NOT_FOUND nobody, or a person who left for good */
async function findUser(ctx: Context, { user_id, email }: AddMember): Promise<string> {
  const query = ctx.db('users').whereNot({ status: 'deprovisioned' });
  const [user] = await query.where(user_id === undefined ? { email } : { user_id }).select<{ user_id: string }[]>('user_id');
  if (!user) throw notFound('User');
  return user.user_id;
}

/**
 * Gives a person with an account a seat in the team.
 * @throws RESOURCE_NOT_FOUND no such team or person | PERMISSION_DENIED below admin | RESOURCE_CONFLICT has a seat already
 * Source: decision B2.
 */
export function addMember(ctx: Context, teamId: string, input: AddMember): Promise<Member> {
  return inTransaction(ctx, async (ctx) => {
    const team = await holdTeam(ctx, teamId);
    authorize('member.manage', await seatOf(ctx, teamId));
    const userId = await findUser(ctx, input);
    const { role } = input;
    if (await readMember(ctx, teamId, userId)) throw conflict('Already a member of this team');
    await Membership.query(ctx.db).insert({ team_id: teamId, user_id: userId, role });
    const member = (await readMember(ctx, teamId, userId)) as Member;
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'teams',
      action: 'add_member',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: teamId,
      title: team.name,
      summary: `added ${member.display_name}`,
      details: { user_id: userId, role },
      event: { type: 'team.member_added', payload: { member } },
    });
    return member;
  });
}
