import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';
import { triggersOfTypes } from './event-types.js';

/**
 * $1 = event types with their triggers (jsonb). Types of other versions of the service stay: during an upgrade both run. Endpoints and automations
 * that asked for a family or a name receive a new type from then on.
 */
const statement = defineStatement({
  name: 'register_event_types',
  text: /* sql */ `
    with written as (
      insert into event_types (event_type, triggers)
      select t.event_type, t.triggers from jsonb_to_recordset($1::jsonb) as t(event_type text, triggers text[])
      on conflict (event_type) do update set triggers = excluded.triggers where event_types.triggers is distinct from excluded.triggers
      returning event_type
    )
    select count(*)::int as written from written`,
});

/** Resolves what each endpoint and each owner of automations subscribes to, in the order of their ids. */
const refreshEndpoints = defineStatement({ name: 'refresh_endpoints', text: 'update webhooks set events = events' });
const refreshAutomations = defineStatement({
  name: 'refresh_automations',
  text: /* sql */ `
    select refresh_automation_subscriptions(o.owner_id) from (
      select distinct coalesce(team_id, created_by) as owner_id from automations where is_active and deleted_at is null order by 1) o`,
});

/** Writes the declared event types into the table that `record_change` checks. A part of each migration. @returns how many are new or differ */
export async function registerEventTypes(db: Knex): Promise<number> {
  return db.transaction(async (trx) => {
    const types = Object.entries(triggersOfTypes).map(([event_type, triggers]) => ({ event_type, triggers }));
    const [row] = await run<{ written: number }>(trx, statement, [JSON.stringify(types)]);
    const written = row?.written ?? 0;
    if (written > 0) for (const refresh of [refreshEndpoints, refreshAutomations]) await run(trx, refresh, []);
    return written;
  });
}
