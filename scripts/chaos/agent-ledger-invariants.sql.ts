import type { Invariant } from './invariant.js';

/** $1 = the ledger (jsonb). */
export const acknowledgedPlans: readonly Invariant[] = [
  {
    name: 'acked_plans_applied',
    words: 'Every acknowledged confirmation of a plan had its effect, once',
    sql: /* sql */ `
      select format('plan %s is %s, its comment is there %s times', a.action_id, max(p.status), count(c.comment_id)) as violation
      from jsonb_to_recordset($1::jsonb->'plans') as a(action_id uuid, content text)
      left join agent_plans p using (action_id) left join comments c on c.content = a.content
      group by a.action_id having count(c.comment_id) <> 1 or max(p.status) is distinct from 'applied'`,
  },
  {
    name: 'acked_undos_applied',
    words: 'What an acknowledged undo took back is gone',
    sql: /* sql */ `
      select format('plan %s, undone by %s, which is %s: its comment is there %s times', a.action_id, max(u.action_id::text),
        max(u.status), count(c.comment_id)) as violation
      from jsonb_to_recordset($1::jsonb->'undone') as a(action_id uuid, content text)
      left join agent_plans u on u.undo_of = a.action_id left join comments c on c.content = a.content
      group by a.action_id having count(c.comment_id) > 0 or count(*) filter (where u.status = 'applied') <> 1`,
  },
  {
    name: 'acked_proposals_staged_once',
    words: 'Every acknowledged proposal of an outside agent is one plan',
    sql: /* sql */ `
      select format('key %s names %s plans', a.key, count(p.action_id)) as violation
      from jsonb_to_recordset($1::jsonb->'proposals') as a(action_id uuid, key text)
      left join agent_plans p on p.source = 'mcp' and strpos(p.canonical, a.key) > 0 and p.undo_of is null
      group by a.key, a.action_id having array_agg(p.action_id) <> array[a.action_id]`,
  },
  {
    name: 'acked_failures_triaged_once',
    words: 'Every delivered failure of a CI run has one plan',
    sql: /* sql */ `
      select format('run %s has %s plans', a.run_id, count(p.action_id)) as violation
      from jsonb_to_recordset($1::jsonb->'failures') as a(run_id bigint)
      left join agent_plans p on p.source = 'ci_failure_triage' and p.undo_of is null and p.trigger->>'forge_run_id' = a.run_id::text
      group by a.run_id having count(p.action_id) <> 1`,
  },
];
