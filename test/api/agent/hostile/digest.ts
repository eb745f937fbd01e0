import type { TestApp } from '../../../support/app.js';

/** Tables in which a turn leaves its own trace: its messages, its plan, and what starts the plan's workflow. */
const OWN =
  /^(agent_(messages|turns|steps|usage|plans|actions|sessions)|outbox|audit_entries|audit_pending|rate_limits|heartbeats|activity|live_changes|knex_.*)$/;

/** A digest of each table that no turn may change, by its name; the rows of partitions are those of their table. */
export async function computeDigest(app: TestApp): Promise<Record<string, string>> {
  const { db } = app.services;
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1",
  );
  const digests: [string, string][] = [];
  for (const { name } of rows.filter((row) => !OWN.test(row.name))) {
    const found = await db.raw<{ rows: { digest: string }[] }>(
      `select md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as digest from "${name}" t`,
    );
    digests.push([name, found.rows[0]?.digest ?? '']);
  }
  return Object.fromEntries(digests);
}

/** What the turns have left in the audit log and in the outbox since these marks. */
export async function traceSince(app: TestApp, since: Date): Promise<{ audited: string[]; enqueued: string[] }> {
  const { db } = app.services;
  const audited = await db('audit_entries')
    .where('timestamp', '>=', since)
    .distinct<{ feature: string; action: string }[]>('feature', 'action');
  const enqueued = await db('outbox').where('created_at', '>=', since).distinct().pluck<string[]>('kind');
  return { audited: audited.map(({ feature, action }) => `${feature} ${action}`), enqueued };
}
