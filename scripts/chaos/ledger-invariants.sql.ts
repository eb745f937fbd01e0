import type { Invariant } from './invariant.js';

/** Every acknowledged write must exist exactly once. $1 = the ledger (jsonb). */
export const acknowledged: readonly Invariant[] = [
  {
    name: 'acked_tasks_kept',
    words: 'Every acknowledged task is there, with the fields that were acknowledged last',
    sql: /* sql */ `
      select format('task %s: %s', a.task_id, case
        when t.task_id is null then 'gone'
        when t.version < a.version then format('at version %s, acknowledged was %s', t.version, a.version)
        when (t.deleted_at is not null) <> a.trashed then 'in or out of the trash against what was acknowledged'
        else format('“%s”, acknowledged was “%s”', t.title, a.title) end) as violation
      from jsonb_to_recordset($1::jsonb->'tasks')
        as a(task_id text, project_id uuid, title text, description text, version int, trashed boolean)
      left join tasks t using (task_id)
      where t.task_id is null or t.version < a.version or t.project_id <> a.project_id or t.title <> a.title
        or t.description is distinct from a.description or (t.deleted_at is not null) <> a.trashed`,
  },
  {
    name: 'acked_updates_recorded',
    words: 'Every acknowledged update is on record under the version that it was given, once',
    sql: /* sql */ `
      with wanted as (
        select * from jsonb_to_recordset($1::jsonb->'updates') as u(task_id text, version int, title text)
      ), recorded as (
        select entity_id as task_id, (details::jsonb->>'version')::int as version, details::jsonb->'changes'->'title'->>'to' as title
        from audit_entries where feature = 'tasks' and action = 'update' and entity_id in (select task_id from wanted)
      )
      select format('task %s, version %s: %s entries', w.task_id, w.version, count(r.task_id)) as violation
      from wanted w left join recorded r on (r.task_id, r.version, r.title) = (w.task_id, w.version, w.title)
      group by w.task_id, w.version having count(r.task_id) <> 1`,
  },
  {
    name: 'acked_tasks_fired',
    words: 'Every acknowledged task started the runs that subscribe to it, once: each comment is there once',
    sql: /* sql */ `
      with wanted as (
        select a.task_id, c.content from jsonb_to_recordset($1::jsonb->'tasks') as a(task_id text, comments jsonb),
          jsonb_array_elements_text(a.comments) as c(content)
      )
      select format('task %s has the comment “%s” %s times', w.task_id, w.content, count(c.comment_id)) as violation
      from wanted w left join comments c on c.task_id = w.task_id and c.content = w.content
      group by w.task_id, w.content having count(c.comment_id) <> 1`,
  },
  {
    name: 'acked_deliveries_applied',
    words: 'Every acknowledged delivery was applied, once: one receipt, one task',
    sql: /* sql */ `
      select format('delivery %s: %s receipts, outcome %s, %s tasks', a.delivery_id, d.receipts, coalesce(d.outcome, 'none'), t.tasks) as violation
      from jsonb_to_recordset($1::jsonb->'deliveries') as a(delivery_id text, title text)
      cross join lateral (select count(*) as receipts, max(outcome) as outcome from forge_deliveries
        where delivery_id = a.delivery_id and outcome is distinct from 'duplicate') d
      cross join lateral (select count(*) as tasks from tasks where title = a.title) t
      where d.receipts <> 1 or d.outcome is distinct from 'applied' or t.tasks <> 1`,
  },
  {
    name: 'acked_decisions_carried_out',
    words:
      'Every acknowledged decision stands and its run ended: the actions after an approved gate were executed once, those after a rejected one never',
    sql: /* sql */ `
      with wanted as (
        select * from jsonb_to_recordset($1::jsonb->'decisions') as d(run_id uuid, gate_index int, decision text)
      ), tails as (
        select w.*, g.decision as stands, r.status, r.finished_at,
          count(a.index) filter (where a.status <> 'succeeded') as undone, count(e.run_id) as effects, count(a.index) as actions
        from wanted w left join gates g on g.run_id = w.run_id and g.gate_index = w.gate_index
        left join automation_runs r on r.run_id = w.run_id
        left join run_actions a on a.run_id = w.run_id and a.index > w.gate_index and a.type <> 'require_approval'
        left join effects e on e.run_id = a.run_id and e.action_index = a.index
        group by w.run_id, w.gate_index, w.decision, g.decision, r.status, r.finished_at
      )
      select format('run %s: %s was acknowledged, the gate is %s, the run %s, with %s effects of %s actions behind the gate', run_id, decision,
        coalesce(stands, 'undecided'), coalesce(status, 'gone'), effects, actions) as violation
      from tails where stands is distinct from decision or finished_at is null
        or case decision when 'approved' then undone > 0 or effects <> actions else effects > 0 end`,
  },
  {
    name: 'refused_left_nothing',
    words: 'What was refused was not done',
    sql: /* sql */ `
      select format('task %s is there, its creation was refused', task_id) as violation
      from jsonb_to_recordset($1::jsonb->'refused') as r(task_id text) join tasks t using (task_id)`,
  },
  {
    name: 'acked_retries_made',
    words: 'Every acknowledged replay is a run of its own that ended',
    sql: /* sql */ `
      select format('replay %s of %s: %s', a.run_id, a.retry_of, coalesce(r.status, 'gone')) as violation
      from jsonb_to_recordset($1::jsonb->'retries') as a(run_id uuid, retry_of uuid)
      left join automation_runs r on r.run_id = a.run_id and r.retry_of = a.retry_of
      where r.run_id is null or r.finished_at is null`,
  },
];
