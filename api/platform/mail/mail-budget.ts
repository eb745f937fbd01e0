import { run } from '../../../db/statement.js';
import { webAddress } from '../config.js';
import { type Context, inTransaction, type Services, serviceContext } from '../context.js';
import { claimHeldStatement, spendStatement } from './mail-budget.sql.js';
import { queueMail } from './queue-mail.js';

/** Share of an address's emails that one team may cause, so that one team cannot delay those of all others. */
const TEAM_SHARE = 2 / 3;
/** Share of both limits that emails take which anybody may send at will: the rest is for what waits for an answer. */
const AT_WILL_SHARE = 2 / 3;
/** Digests that are queued in one transaction. */
const BATCH = 100;

/**
 * Counts an email that other people or their automations cause, for each address, and returns the addresses to which it may be sent now. The
 * others have had theirs of this hour: a digest will count what was held back. Emails that are sent at will leave a third to the others.
 * Locks the counters of the addresses until the commit.
 */
export async function spendMailBudget(
  ctx: Context,
  addresses: readonly string[],
  { team_id, kind, isAtWill }: { team_id: string | null; kind: string; isAtWill: boolean },
): Promise<Set<string>> {
  const max = Math.floor(ctx.config.MAILS_PER_RECIPIENT_HOUR * (isAtWill ? AT_WILL_SHARE : 1));
  const values = [addresses, team_id ?? '', kind, max, Math.floor(max * TEAM_SHARE)];
  const rows = await run<{ recipient: string; is_sent: boolean }>(ctx.db, spendStatement, values);
  return new Set(rows.filter(({ is_sent }) => is_sent).map(({ recipient }) => recipient));
}

interface Held extends Record<string, unknown> {
  recipient: string;
  /** Null for an account that is no longer active. */
  name: string | null;
  held: number;
  held_by_kind: Record<string, number>;
}

/** Queues one digest for each address and hour in which emails were held back. Safe to repeat and to run in several workers. */
export async function queueDigests(services: Services): Promise<void> {
  await inTransaction(serviceContext(services, 'mail'), async (ctx) => {
    const url = webAddress(ctx.config, '/app/notifications');
    for (const { recipient, name, held, held_by_kind } of await run<Held>(ctx.db, claimHeldStatement, [BATCH])) {
      if (name !== null) {
        await queueMail(ctx, { to: recipient, template: 'held-mails', data: { name, held, kinds: held_by_kind, url } });
      }
    }
  });
}
