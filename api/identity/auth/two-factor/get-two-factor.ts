import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { TwoFactor } from './schema.js';

/** $1 = user id. */
const statement = defineStatement({
  name: 'get_two_factor',
  text: /* sql */ `
    select two_factor_enabled_at is not null as enabled,
      (select count(*)::int from recovery_codes r where r.user_id = users.user_id) as recovery_codes_left
    from users where user_id = $1`,
});

/** Returns whether the caller uses two-factor sign-in, and the number of unused recovery codes. */
export async function getTwoFactor(ctx: Context): Promise<TwoFactor> {
  const [row] = await run<TwoFactor>(ctx.db, statement, [requireUser(ctx)]);
  return row as TwoFactor;
}
