import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { getMe } from './get-me.js';
import type { MeUpdate, User } from './schema.js';

/** $1 = user id, $2 = name, $3 = username, $4 = display name, $5 = avatar, each null to keep it, $6 = preferences to merge. */
const statement = defineStatement({
  name: 'update_me',
  text: /* sql */ `
    update users set name = coalesce($2, name), username = coalesce($3, username), display_name = coalesce($4, display_name),
      avatar = coalesce($5, avatar), preferences = preferences || $6::jsonb
    where user_id = $1`,
});

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
    const { name, username, display_name, avatar } = fields;
    const merged = JSON.stringify(preferences ?? {});
    await run(ctx.db, statement, [user_id, name, username, display_name, avatar, merged]);
    const entity = { entity_type: 'user' as const, entity_id: user_id };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'update', ...entity, details: { fields: changed } });
    return getMe(ctx);
  });
}
