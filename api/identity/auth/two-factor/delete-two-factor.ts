import type { Context } from '../../../platform/context.js';

/** Deletes a user's second factor: secret and recovery codes. Returns whether it was enabled. */
export async function deleteTwoFactor({ db }: Pick<Context, 'db'>, userId: string): Promise<boolean> {
  const [before] = await db('users').where({ user_id: userId }).forNoKeyUpdate().pluck<(Date | null)[]>('two_factor_enabled_at');
  const off = { two_factor_enabled_at: null, two_factor_secret: null, two_factor_step: null };
  await db('users').where({ user_id: userId }).update(off);
  await db('recovery_codes').where({ user_id: userId }).delete();
  return before != null;
}
