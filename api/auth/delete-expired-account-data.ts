import type { Knex } from 'knex';

/** What may go, and from when on. Sessions go last of all: what they did is in the audit log, by their owner. */
const OVER: Record<string, string> = {
  one_time_codes: `expires_at < now() - interval '1 day'`,
  login_attempts: `first_attempt_at < now() - interval '1 day' and coalesce(locked_until < now(), true)`,
  mails: `created_at < now() - interval '30 days'`,
  // The service could not be reached for days, or has no client of ours any more.
  integration_revocations: `created_at < now() - interval '7 days'
    and not exists (select from outbox o where o.kind = 'integration.revoke' and o.subject = revocation_id::text)`,
  trusted_devices: 'expires_at < now()',
  sessions: `least(ended_at, expires_at) < now() - interval '30 days'`,
};
const BATCH = 500;

/** Deletes the traces of sign-ins whose time is over, in batches, each a commit of its own. May be run at any time. Returns how many. */
export async function deleteExpiredAccountData(db: Knex): Promise<number> {
  let total = 0;
  for (const [table, over] of Object.entries(OVER)) {
    for (let gone = BATCH; gone === BATCH; total += gone) {
      const { rowCount } = await db.raw<{ rowCount: number }>(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${over} limit ${BATCH} for update skip locked))`,
      );
      gone = rowCount;
    }
  }
  return total;
}
