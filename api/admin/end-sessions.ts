import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';

/** $1 person: what is open in their name, and what they opened in the names of others. */
const statement: Statement = {
  name: 'end_sessions_of_person',
  text: /* sql */ `
    update sessions set ended_at = now() where ended_at is null and (user_id = $1 or impersonator_id = $1) returning session_id`,
};

/** Ends every session of a person for good, those in which they act as others too. Returns how many there were. */
export async function endSessions(ctx: Context, userId: string): Promise<number> {
  return (await run(ctx.db, statement, [userId])).length;
}
