import type { Knex } from 'knex';
import { inBatches } from '../../../db/in-batches.js';
import { defineStatement, run } from '../../../db/statement.js';

/** Deletable rows by table. Sessions come last; the audit log keeps what they did. */
const OVER: Record<string, string> = {
  one_time_codes: `expires_at < now() - interval '1 day'`,
  login_attempts: `first_attempt_at < now() - interval '1 day' and coalesce(locked_until < now(), true)`,
  mails: `created_at < now() - interval '30 days'`,
  mail_budgets: `hour < now() - interval '2 days'`,
  // The provider was unreachable for days, or its OAuth client was removed.
  integration_revocations: `created_at < now() - interval '7 days'
    and not exists (select from outbox o where o.kind = 'integration.revoke' and o.subject = revocation_id::text)`,
  invitations: `least(accepted_at, revoked_at, expires_at) < now() - interval '30 days'`,
  trusted_devices: 'expires_at < now()',
  sessions: `least(ended_at, expires_at) < now() - interval '30 days'`,
};
const BATCH = 1_000;

const statements = Object.entries(OVER).map(([table, over]) =>
  defineStatement({
    name: `delete_expired_${table}`,
    text: /* sql */ `
      delete from ${table} where ctid = any(array(select ctid from ${table} where ${over} limit ${BATCH} for update skip locked)) returning 1`,
  }),
);

/** Deletes expired sign-in data in batches, each with its own commit. Safe to repeat. Returns the number of rows. */
export async function deleteExpiredAccountData(db: Knex): Promise<number> {
  let total = 0;
  for (const statement of statements) total += await inBatches(BATCH, async () => (await run(db, statement, [])).length);
  return total;
}
