import type { Invariant } from './invariant.js';

/** What must hold of cycles and their tasks. */
export const cycleInvariants: readonly Invariant[] = [
  {
    name: 'one_active_cycle',
    words: 'No team and project has more than one active cycle',
    sql: /* sql */ `
      select format('team %s, project %s: %s active cycles', team_id, project_id, count(*)) as violation
      from cycles where status = 'active' group by team_id, project_id having count(*) > 1`,
  },
  {
    name: 'snapshots_true',
    words: 'The snapshot of a completed cycle has the figures of its tasks, unless some were purged',
    sql: /* sql */ `
      select format('cycle %s: %s, of its tasks %s completed and %s carried over', c.cycle_id, c.snapshot - 'days', n.completed, n.carried)
        as violation
      from cycles c cross join lateral (
        select count(*) filter (where s.outcome = 'completed') as completed, count(*) filter (where s.outcome = 'carried_over') as carried,
          count(*) filter (where s.committed) as committed, count(*) filter (where s.outcome is not null and not s.committed) as added
        from cycle_tasks s where s.cycle_id = c.cycle_id
      ) n
      where c.status = 'completed'
        and (n.completed, n.carried, n.committed, n.added) is distinct from ((c.snapshot->>'completed')::bigint,
          (c.snapshot->>'carried_over')::bigint, (c.snapshot->>'committed')::bigint, (c.snapshot->>'added')::bigint)
        and not exists (
          select from audit_entries a where a.team_id = c.team_id and a.feature in ('tasks', 'projects') and a.action = 'purge')`,
  },
  {
    name: 'stays_open',
    words: 'A task has one open stay, in the cycle that it names, or none',
    sql: /* sql */ `
      select format('task %s is in cycle %s and stays in %s', task_id, t.cycle_id, s.cycle_id) as violation
      from (select task_id, cycle_id from tasks where cycle_id is not null) t
      full join (select task_id, cycle_id from cycle_tasks where removed_at is null) s using (task_id)
      where t.cycle_id is distinct from s.cycle_id`,
  },
  {
    name: 'cycles_hold_their_own',
    words: 'A cycle of a project holds tasks of that project only',
    sql: /* sql */ `
      select format('task %s of project %s is in cycle %s', t.task_id, t.project_id, c.cycle_id) as violation
      from tasks t join cycles c on c.cycle_id = t.cycle_id where c.project_id <> t.project_id or c.team_id <> t.team_id`,
  },
];

/** Every acknowledged completion. $1 = the ledger (jsonb). */
export const acknowledgedCycles: readonly Invariant[] = [
  {
    name: 'acked_cycles_completed',
    words: 'Every cycle whose completion was acknowledged, or due, is completed, once',
    sql: /* sql */ `
      select format('cycle %s is %s, with %s entries', a.cycle_id, coalesce(c.status, 'gone'), n.entries) as violation
      from jsonb_to_recordset($1::jsonb->'cycles') as a(cycle_id uuid)
      left join cycles c on c.cycle_id = a.cycle_id
      cross join lateral (
        select count(*) as entries from audit_entries e where e.entity_id = a.cycle_id::text and e.action = 'complete'
      ) n
      where c.status is distinct from 'completed' or n.entries <> 1`,
  },
];
