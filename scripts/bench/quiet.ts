import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';

/** Pending events, unsealed audit entries, and marks of search. */
const PENDING =
  'select exists (select from audit_pending) or exists (select from outbox) or exists (select from search_dirty) as left';

/** Pending work: events, unsealed audit entries, marks of search, and tables that autovacuum has yet to process. */
const LEFT = /* sql */ `
  select exists (select from audit_pending) or exists (select from outbox)
    or exists (select from search_dirty) or exists (select from pg_stat_activity where backend_type = 'autovacuum worker') as left`;

async function untilNothing(db: Knex, query: string, everyMs: number): Promise<void> {
  for (;;) {
    const { rows } = await db.raw<{ rows: { left: boolean }[] }>(query);
    if (!rows[0]?.left) return;
    await sleep(everyMs);
  }
}

/** Resolves when neither the worker nor PostgreSQL has pending work. */
export const quiet = (db: Knex): Promise<void> => untilNothing(db, LEFT, 100);

/** Resolves when the worker has processed everything that earlier writes caused. */
export const drained = (db: Knex): Promise<void> => untilNothing(db, PENDING, 10);
