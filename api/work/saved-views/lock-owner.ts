import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';

/** $1 = user id. */
const lockStatement = defineStatement({
  name: 'lock_owner_of_views',
  text: 'select from users where user_id = $1 for no key update',
});

/** Locks the caller until the commit, so that changes of their views that must know of each other happen one after the other. */
export async function lockOwner(ctx: Context): Promise<void> {
  await run(ctx.db, lockStatement, [requireUser(ctx)]);
}
