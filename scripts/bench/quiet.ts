import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';

/** Resolves when the worker has nothing left to do: every event is heard, every audit entry sealed. */
export async function quiet(db: Knex): Promise<void> {
  while ((await db('audit_unsealed').first()) !== undefined || (await db('outbox').first()) !== undefined) await sleep(100);
}
