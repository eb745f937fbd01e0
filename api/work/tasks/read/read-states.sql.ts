import { defineStatement } from '../../../../db/statement.js';

/** $1 = task ids, $2 = caller id, $3 = roles that may read. What a change of several tasks reads of each live one first. */
export const taskStatesStatement = defineStatement({
  name: 'task_states',
  text: /* sql */ `
    select t.task_id, t.team_id, t.version, t.tags, t.cycle_id, t.parent_task_id
    from tasks t join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
    where t.task_id = any((select $1::text[])::text[]) and t.deleted_at is null`,
});
