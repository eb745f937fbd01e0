import { defineStatement } from '../../../../db/statement.js';

/** $1 = cycle id. What the clock of a cycle reads. */
export const viewCycleStatement = defineStatement({
  name: 'view_cycle',
  text: /* sql */ `
    select c.number, c.status, c.completed_at, (c.snapshot->>'carried_over')::int as carried_over, due.at as due_at,
      ceil(greatest(extract(epoch from due.at - clock_timestamp()) * 1000, 0))::float8 as ms_left,
      exists (select from projects p where p.project_id = c.project_id and p.deleted_at is not null) as is_trashed,
      n.tasks, n.done, c.repeats, c.team_id, c.project_id, c.cause_user_ids, c.correlation_id
    from cycles c cross join lateral (select cycle_due(c) as at) due cross join lateral (
      select count(*)::int as tasks, count(*) filter (where t.status = 'done')::int as done
      from tasks t where t.cycle_id = c.cycle_id and t.deleted_at is null and t.resolution is null
    ) n
    where c.cycle_id = $1`,
});

/** $1 = leased outbox rows. What operators see of each cycle; one without a cycle wakes the workflow of a deleted one. */
export const cycleDispatchesStatement = defineStatement({
  name: 'cycle_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.correlation_id, o.payload->>'cycle_id' as cycle_id, o.team_id, o.project_id, c.number, c.status, c.created_by,
      cycle_due(c) as due_at
    from outbox o left join cycles c on c.cycle_id = (o.payload->>'cycle_id')::uuid where o.outbox_id = any($1::bigint[])`,
});
