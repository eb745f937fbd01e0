import { defineStatement } from '../../../db/statement.js';

/** A cycle of a project in the trash is not found. */
const SHOWN = /* sql */ `(c.project_id is null
      or exists (select from projects p where p.project_id = c.project_id and p.deleted_at is null))`;

/** $1 = cycle id, $2 = caller id or null. Locks nothing: a caller without a role must not make the cycle's team wait. */
export const getCycleStatement = defineStatement({
  name: 'get_cycle',
  text: /* sql */ `
    select (select m.role from memberships m where m.team_id = c.team_id and m.user_id = $2) as seat, cycle_json(c) as cycle
    from cycles c where c.cycle_id = $1 and ${SHOWN}`,
});

/** $1 = caller id, $2 = team id, $3 = status or null, $4 = limit, $5 = offset, $6 = roles that may read. Oldest first. */
export const listCyclesStatement = defineStatement({
  name: 'list_cycles',
  text: /* sql */ `
    select cycle_json(c) as cycle from (
      select c.* from cycles c
      where c.team_id = $2 and ($3::text is null or c.status = $3) and ${SHOWN}
        and exists (select from memberships m where m.team_id = $2 and m.user_id = $1 and m.role = any($6::text[]))
      order by c.created_at, c.cycle_id limit $4 offset $5
    ) c
    order by c.created_at, c.cycle_id`,
});

/** $1 = team id, $2 = project id or null. The earliest planned cycle. */
export const nextCycleStatement = defineStatement({
  name: 'next_cycle',
  text: /* sql */ `
    select c.cycle_id from cycles c
    where c.team_id = $1 and c.project_id is not distinct from $2::uuid and c.status = 'planned'
    order by c.start_date nulls last, c.number limit 1`,
});

/** $1 = cycle ids. In id order, which prevents deadlocks; references to the cycles are not blocked. */
export const lockCyclesStatement = defineStatement({
  name: 'lock_cycles',
  text: /* sql */ `
    select c.cycle_id, c.team_id, c.project_id, c.name, c.goal, c.start_date, c.end_date, c.status, c.auto_complete,
      c.repeats, c.created_by, c.cause_user_ids
    from cycles c where c.cycle_id = any($1::uuid[]) order by c.cycle_id for no key update`,
});
