import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

export interface Check {
  ok: boolean;
  detail?: string;
  /** Workers with a recent heartbeat. */
  alive?: number;
}

/** A worker whose last heartbeat is older counts as down. */
const MAX_HEARTBEAT_AGE_SECONDS = 15;

/** $1 = seconds. */
const statement = defineStatement({
  name: 'check_workers',
  text: /* sql */ `
    select count(*)::int as alive, (count(*) filter (where (details->>'temporal')::boolean))::int as linked from heartbeats
    where process like 'worker%' and seen_at > now() - make_interval(secs => $1)`,
});

/**
 * Reads workers and their view of Temporal from their heartbeats, so the API needs no Temporal client. One live worker suffices.
 */
export async function checkWorkers(db: Knex): Promise<{ worker: Check; temporal: Check }> {
  const rows = await run<{ alive: number; linked: number }>(db, statement, [MAX_HEARTBEAT_AGE_SECONDS]).catch(() => []);
  const { alive = 0, linked = 0 } = rows[0] ?? {};
  return { worker: { ok: alive > 0, alive }, temporal: { ok: linked > 0 } };
}
