import type { Knex } from 'knex';
import type { TestApp } from './app.js';
import { until } from './worker.js';

/** Returns how many statements on the app's database wait for a lock. */
export async function waitingForLocks({ services }: TestApp): Promise<number> {
  const { rows } = await services.db.raw<{ rows: { count: number }[] }>(/* sql */ `
    select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`);
  return rows[0]?.count ?? 0;
}

/** Sends requests one after the other while `hold` keeps all of them waiting, then lets them go: they take their turns in this order. */
export async function inTurn<T>(
  app: TestApp,
  hold: (holder: Knex) => Promise<unknown>,
  requests: (() => Promise<T>)[],
): Promise<T[]> {
  const holder = await app.services.db.transaction();
  const sent: Promise<T>[] = [];
  try {
    await hold(holder);
    for (const request of requests) {
      sent.push(request());
      await until(async () => (await waitingForLocks(app)) === sent.length);
    }
  } finally {
    await holder.rollback();
  }
  return Promise.all(sent);
}
