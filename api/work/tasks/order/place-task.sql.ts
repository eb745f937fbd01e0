import { defineStatement } from '../../../../db/statement.js';
import { manualKey } from './manual-key.js';
import { MAX_SHIFTED } from './rules.js';

const PLACE = manualKey('t');

/**
 * $1 = project id, $2 = caller id, $3 = roles that may write. Moves in one project wait for each other, so that each sees the places that the one before
 * has left. Changes of tasks do not wait: they take a key share at most. Who may only read takes no lock, and makes nobody wait.
 */
export const lockOrderStatement = defineStatement({
  name: 'lock_manual_order',
  text: /* sql */ `
    select 1 from projects p where p.project_id = $1 and p.deleted_at is null
      and exists (select from memberships m where m.team_id = p.team_id and m.user_id = $2 and m.role = any($3::text[]))
    for no key update of p`,
});

/** $1 = task ids, $2 = caller id, $3 = roles that may read. Returns the place of each live task that the caller may read. */
export const placesStatement = defineStatement({
  name: 'places_of_tasks',
  text: /* sql */ `
    select t.task_id, t.project_id, ${PLACE} as place
    from tasks t join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
    where t.task_id = any((select $1::text[])::text[]) and t.deleted_at is null`,
});

/** $1 = project id, $2 = id of a task of it, $3 = id of the task that moves. Returns the tasks on one side of the second, the nearest first. */
const besideStatement = (name: string, side: '>' | '<', limit: number) => {
  const direction = side === '>' ? 'asc' : 'desc';
  return defineStatement({
    name,
    text: /* sql */ `
    select t.task_id, ${PLACE} as place
    from tasks a join tasks t on t.project_id = a.project_id
    where a.task_id = $2 and a.project_id = $1 and t.deleted_at is null and t.task_id <> all(array[$2, $3])
      and (${PLACE}, t.created_at, t.task_id) ${side} (${manualKey('a')}, a.created_at, a.task_id)
    order by ${PLACE} ${direction}, t.created_at ${direction}, t.task_id ${direction} limit ${limit}`,
  });
};
export const followingStatement = besideStatement('tasks_behind', '>', MAX_SHIFTED + 1);
export const precedingStatement = besideStatement('task_before', '<', 1);
