import type { TestApp } from '../../../support/app.js';

/** What proposing may write: plans and what leads to them, their trace, and what is written beside every request. */
const OWN = [
  'agent_sessions',
  'agent_messages',
  'agent_plans',
  'agent_actions',
  'audit_entries',
  'audit_pending',
  'audit_seals',
  'notifications',
  'outbox',
  'mails',
  'activity',
  'live_changes',
  'rate_limits',
  'heartbeats',
  'search_documents',
  'search_dirty',
  'search_team_words',
];

/** Columns that a request notes about its credential. */
const WITHOUT: Record<string, string> = { personal_access_tokens: ` - 'last_used_at'` };

/** A digest of each table but those and `others`, by name: equal before and after means that no row changed. */
export async function computeDigest({ services: { db } }: TestApp, others: string[] = []): Promise<Record<string, string>> {
  const tables = await db('pg_tables')
    .where({ schemaname: 'public' })
    .whereNotIn('tablename', [...OWN, ...others])
    // A partition is read with its table.
    .whereRaw('not exists (select from pg_class c where c.relname = tablename and c.relispartition)')
    .pluck<string[]>('tablename');
  const digests: Record<string, string> = {};
  for (const table of tables.toSorted()) {
    const row = `to_jsonb(t)${WITHOUT[table] ?? ''}`;
    const { rows } = await db.raw<{ rows: { digest: string }[] }>(
      `select md5(coalesce(string_agg((${row})::text, '' order by (${row})::text), '')) as digest from ${table} t`,
    );
    digests[table] = rows[0]?.digest ?? '';
  }
  return digests;
}
