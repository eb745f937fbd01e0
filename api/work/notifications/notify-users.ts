import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { webAddress } from '../../platform/config.js';
import { spendMailBudget } from '../../platform/mail/mail-budget.js';
import { queueMail } from '../../platform/mail/queue-mail.js';
import { type Recipient, type RecipientFilter, RECIPIENTS, recipientValues } from './find-recipients.js';
import type { NotificationKind } from './schema.js';

export interface Notice {
  kind: NotificationKind;
  /** Subject of the email. */
  title: string;
  message: string;
  /** Text of the email, if it differs: `message` may quote names, which mail programs would turn into links. */
  mailMessage?: string;
  /** Further lines of an email. */
  details?: string[];
  team_id: string | null;
  run_id: string | null;
  /** Id of the plan that waits for a confirmation. */
  action_id?: string;
  /** Id of the change request. */
  request_id?: string;
  /** Path of the email's button; defaults to the run's page. */
  path?: `/${string}`;
}

export type Channel = 'in_app' | 'email';

/** Kinds that anybody can make the service send in any number. Nobody waits for an answer to them. */
const AT_WILL: readonly NotificationKind[] = ['message', 'member_added'];

/** $1 = user ids, $2 = team id, $3 = kind, $4 = message, $5 = run id, $6 = plan id, $7 = id of the change request; each may be null. */
const statement = defineStatement({
  name: 'notify_people',
  text: /* sql */ `
    insert into notifications (user_id, team_id, kind, message, run_id, action_id, request_id)
    select person, $2::uuid, $3, $4, $5::uuid, $6::uuid, $7::uuid from unnest($1::uuid[]) as person`,
});

/** $1 to $5 = whom (find-recipients.ts), $6 = kind, $7 = message, $8 = id of the change request. */
const foundStatement = defineStatement({
  name: 'notify_found',
  text: /* sql */ `
    insert into notifications (user_id, team_id, kind, message, request_id)
    select f.user_id, $1::uuid, $6, $7, $8::uuid from (${RECIPIENTS}) f`,
});

/** Notifies whom the filter finds, in the app only: one statement, in the transaction of the cause. */
export async function notifyInApp(
  { db }: Pick<Context, 'db'>,
  filter: RecipientFilter,
  { kind, message, request_id }: Required<Pick<Notice, 'kind' | 'message' | 'request_id'>>,
): Promise<void> {
  await run(db, foundStatement, [...recipientValues(filter), kind, message, request_id]);
}

/**
 * Notifies users in the app, by email, or both, in the transaction of the cause. Emails are retried by the dispatcher and say no more than
 * the app; their link grants nothing. A user who has had their emails of this hour is notified in the app instead, and by one digest.
 */
export async function notifyUsers(
  ctx: Context,
  people: readonly Recipient[],
  notice: Notice,
  channels: readonly Channel[],
): Promise<void> {
  if (people.length === 0) return;
  const {
    kind,
    title,
    message,
    mailMessage = message,
    details = [],
    team_id,
    run_id,
    action_id = null,
    request_id = null,
    path = run_id === null ? '/app' : `/app/runs/${run_id}`,
  } = notice;
  const mailed = channels.includes('email')
    ? await spendMailBudget(
        ctx,
        people.map(({ email }) => email),
        { team_id, kind, isAtWill: AT_WILL.includes(kind) },
      )
    : new Set<string>();
  const inApp = channels.includes('in_app') ? people : people.filter(({ email }) => !mailed.has(email));
  const ids = inApp.map(({ user_id }) => user_id);
  if (ids.length > 0) await run(ctx.db, statement, [ids, team_id, kind, message, run_id, action_id, request_id]);
  const url = webAddress(ctx.config, path);
  for (const { email, name } of people.filter((person) => mailed.has(person.email)))
    await queueMail(ctx, { to: email, template: 'notice', data: { name, title, message: mailMessage, details, url } });
}
