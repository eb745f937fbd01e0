import { raw } from 'objection';
import { Membership } from '../../db/models/membership.js';
import { Team } from '../../db/models/team.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { recordChange } from '../core/record-change.js';
import { readTeam } from './read-team.js';
import type { CreatedTeam, CreateTeam } from './schema.js';

/** Returns those users who exist and may join a team, in the given order. */
async function knownAmong(ctx: Context, userIds: string[]): Promise<string[]> {
  const rows = await ctx
    .db('users')
    .whereIn('user_id', userIds)
    .whereNot({ status: 'deprovisioned' })
    .forKeyShare()
    .select('user_id');
  const known = new Set(rows.map((row: { user_id: string }) => row.user_id));
  return userIds.filter((id) => known.has(id));
}

/** Creates a team with its default conversation. The caller becomes its first member and admin, the others join as members. */
export function createTeam(ctx: Context, { name, description, member_ids }: CreateTeam): Promise<CreatedTeam> {
  return inTransaction(ctx, async (ctx) => {
    const creator = userOf(ctx);
    const { team_id } = await Team.query(ctx.db)
      .insert({ name, description: description ?? null, plan: ctx.config.DEFAULT_TEAM_PLAN, created_by: creator })
      .returning('team_id');
    const wanted = (member_ids ?? []).filter((id) => id !== creator);
    const joining = await knownAmong(ctx, wanted);
    // `clock_timestamp()` advances within the transaction: the creator sorts first, the others in the given order.
    const joined_at = raw('clock_timestamp()');
    await Membership.query(ctx.db).insert({ team_id, user_id: creator, role: 'admin' });
    if (joining.length > 0) {
      await Membership.query(ctx.db).insert(joining.map((user_id) => ({ team_id, user_id, role: 'member' as const, joined_at })));
    }
    await ctx.db('conversations').insert({ team_id, title: 'General', is_default: true });
    await recordChange(ctx, {
      team_id,
      feature: 'teams',
      action: 'create',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: team_id,
      title: name,
      summary: 'created the team',
      details: { name, member_ids: [creator, ...joining] },
    });
    const { team } = await readTeam(ctx, team_id);
    return { ...team, ignored_member_ids: wanted.filter((id) => !joining.includes(id)) };
  });
}
