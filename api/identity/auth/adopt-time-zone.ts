import { defineStatement, run } from '../../../db/statement.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { TimeZone } from '../../platform/fields.js';

/** $1 = user id, $2 = time zone. No row: the user has one already. */
const statement = defineStatement({
  name: 'adopt_time_zone',
  text: /* sql */ `
    update users set preferences = preferences || jsonb_build_object('timezone', $2::text)
    where user_id = $1 and not preferences ? 'timezone' returning 1`,
});

/** Sets the time zone of a user who never chose one, to that of the browser they signed in with. Anything that is no time zone changes nothing. */
export async function adoptTimeZone(ctx: Context, userId: string, wanted: unknown): Promise<void> {
  const { data: timezone } = TimeZone.safeParse(wanted);
  if (timezone === undefined) return;
  await inTransaction(ctx, async (ctx) => {
    if ((await run(ctx.db, statement, [userId, timezone])).length === 0) return;
    const entity = { entity_type: 'user' as const, entity_id: userId };
    const details = { fields: ['timezone'], timezone };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'update', ...entity, details });
  });
}
