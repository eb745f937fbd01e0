import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';

/** What is left to do: events to be heard, audit entries to be sealed, and what earlier sections gave autovacuum to tidy up. */
const LEFT = /* sql */ `
  select exists (select from audit_unsealed) or exists (select from outbox)
    or exists (select from pg_stat_activity where backend_type = 'autovacuum worker') as left`;

/** Resolves when neither the worker nor PostgreSQL has anything left to do. */
export async function quiet(db: Knex): Promise<void> {
  for (;;) {
    const { rows } = await db.raw<{ rows: { left: boolean }[] }>(LEFT);
    if (!rows[0]?.left) return;
    await sleep(100);
  }
}
