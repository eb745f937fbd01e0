import type { Invariant } from './invariant.js';

const RECEIVED = /* sql */ `jsonb_to_recordset($1::jsonb->'received') as r(event_id text, type text, entity_id text, version int)`;

/** What a subscribed receiver must have got. $1 = the ledger (jsonb). */
export const acknowledgedWebhooks: readonly Invariant[] = [
  {
    name: 'acked_tasks_delivered',
    words: 'Every acknowledged task arrived at the subscribed receiver at least once',
    sql: /* sql */ `
      select format('task %s was not delivered', a.task_id) as violation
      from jsonb_to_recordset($1::jsonb->'tasks') as a(task_id text)
      where not exists (select from ${RECEIVED} where r.type = 'task.created' and r.entity_id = a.task_id)`,
  },
  {
    name: 'acked_updates_delivered',
    words: 'Every acknowledged update arrived at the subscribed receiver at least once',
    sql: /* sql */ `
      select format('task %s, version %s, was not delivered', u.task_id, u.version) as violation
      from jsonb_to_recordset($1::jsonb->'updates') as u(task_id text, version int)
      where not exists (select from ${RECEIVED} where r.type = 'task.updated' and (r.entity_id, r.version) = (u.task_id, u.version))`,
  },
  {
    name: 'deliveries_one_id',
    words: 'What arrived twice has the same webhook-id',
    sql: /* sql */ `
      select format('%s of task %s, version %s, has the ids %s', r.type, r.entity_id, r.version, string_agg(distinct r.event_id, ', ')) as violation
      from ${RECEIVED} where r.version is not null
      group by r.type, r.entity_id, r.version having count(distinct r.event_id) > 1`,
  },
];
