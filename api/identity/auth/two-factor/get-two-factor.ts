import { type Context, requireUser } from '../../../platform/context.js';
import type { TwoFactor } from './schema.js';

/** Returns whether the caller uses two-factor sign-in, and the number of unused recovery codes. */
export async function getTwoFactor(ctx: Context): Promise<TwoFactor> {
  const user_id = requireUser(ctx);
  const row = await ctx
    .db('users')
    .where({ user_id })
    .first<TwoFactor>(
      ctx.db.raw('two_factor_enabled_at is not null as enabled'),
      ctx.db.raw('(select count(*)::int from recovery_codes r where r.user_id = users.user_id) as recovery_codes_left'),
    );
  return row;
}
