import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { webAddress } from '../core/config.js';
import { queueMail } from '../mail/queue-mail.js';
import type { Recipient } from './find-recipients.js';
import type { NotificationKind } from './schema.js';

export interface Notice {
  kind: NotificationKind;
  /** The subject of a mail. */
  title: string;
  message: string;
  team_id: string | null;
  run_id: string | null;
  /** Where a mail's button leads; the run's page where there is a run. */
  path?: `/${string}`;
}

export type Channel = 'in_app' | 'email';

/** $1 people, $2 team, $3 kind, $4 message, $5 run. */
const statement: Statement = {
  name: 'notify_people',
  text: /* sql */ `
    insert into notifications (user_id, team_id, kind, message, run_id)
    select person, $2::uuid, $3, $4, $5::uuid from unnest($1::uuid[]) as person`,
};

/**
 * Tells people something, in the transaction of what it is about: in the app, by mail, or both. A mail goes with the dispatcher's
 * retries and says no more than the list in the app does; its link carries no right to anything.
 */
export async function notifyUsers(
  ctx: Context,
  people: readonly Recipient[],
  notice: Notice,
  channels: readonly Channel[],
): Promise<void> {
  if (people.length === 0) return;
  const { kind, title, message, team_id, run_id, path = '/app' } = notice;
  if (channels.includes('in_app')) {
    await run(ctx.db, statement, [people.map(({ user_id }) => user_id), team_id, kind, message, run_id]);
  }
  if (!channels.includes('email')) return;
  const url = webAddress(ctx.config, run_id === null ? path : `/app/runs/${run_id}`);
  for (const { email, name } of people)
    await queueMail(ctx, { to: email, template: 'notice', data: { name, title, message, url } });
}
