import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { getMe } from './get-me.js';
import type { MeUpdate, User } from './schema.js';

/**
 * Updates the caller's own fields; preferences are merged one by one.
 * @throws RESOURCE_NOT_FOUND unknown default team | PERMISSION_DENIED not a member of it | RESOURCE_CONFLICT username taken
 */
export function updateMe(ctx: Context, { preferences, ...fields }: MeUpdate): Promise<User> {
  return inTransaction(ctx, async (ctx) => {
    const user_id = requireUser(ctx);
    const team = preferences?.default_team_id;
    if (team) authorize('team.read', await seatInTeam(ctx, team));
    const changed = Object.keys({ ...fields, ...preferences });
    if (changed.length === 0) return getMe(ctx);
    await ctx
      .db('users')
      .where({ user_id })
      .update({ ...fields, preferences: ctx.db.raw('preferences || ?::jsonb', [JSON.stringify(preferences ?? {})]) });
    const entity = { entity_type: 'user' as const, entity_id: user_id };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'update', ...entity, details: { fields: changed } });
    return getMe(ctx);
  });
}
