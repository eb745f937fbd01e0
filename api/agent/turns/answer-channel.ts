import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** Channel on which requests wait for answers; the payload is the id of the answered message. */
export const ANSWER_CHANNEL = 'assent_answers';

const statement = defineStatement({ name: 'notify_answers', text: `select pg_notify('${ANSWER_CHANNEL}', $1)` });

/**
 * Tells the processes that wait for the answer to a message. After the commit, in a statement of its own
 * (docs/adr/0003-notify-after-commit.md). If it is lost, the request finds the answer a second later.
 */
export async function notifyAnswered(db: Knex, messageId: string): Promise<void> {
  await run(db, statement, [messageId]).catch(() => undefined);
}
