import { defineStatement } from '../../../../db/statement.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { MAX_EXPECTED, MAX_EXPECTED_OF_TEAM } from '../rules.js';

/** $1 = team id, $2 = task ids, $3 = their addresses. Leaves out what has an assignee, and what is more than a person or a team may have. */
export const expectStatement = defineStatement({
  name: 'expect_assignees',
  text: /* sql */ `
    insert into expected_assignees (task_id, team_id, email)
    select n.task_id, $1::uuid, n.email from (
      select t.task_id, g.email,
        row_number() over (partition by g.email order by g.place)
          + (select count(*) from expected_assignees e where e.team_id = $1 and e.email = g.email) as nth_of_person,
        row_number() over (order by g.place) + (select count(*) from expected_assignees e where e.team_id = $1) as nth
      from unnest($2::text[], $3::text[]) with ordinality as g(task_id, email, place)
        join tasks t on t.task_id = g.task_id and t.team_id = $1 and t.assigned_to is null and t.deleted_at is null
    ) n where n.nth_of_person <= ${MAX_EXPECTED} and n.nth <= ${MAX_EXPECTED_OF_TEAM}
    on conflict (task_id) do update set team_id = excluded.team_id, email = excluded.email, since = now()`,
});

/** $1 = team id, $2 = user id. Imports at once may have kept more than the most of one person. The tasks are locked in the order of their ids, as their other writers do. */
export const lockExpectedStatement = defineStatement({
  name: 'lock_expected_tasks',
  text: /* sql */ `
    select t.task_id from tasks t where t.team_id = $1 and t.deleted_at is null and t.assigned_to is null and t.task_id in (
      select e.task_id from expected_assignees e join users u on u.email = e.email where e.team_id = $1 and u.user_id = $2 limit ${MAX_EXPECTED}
    ) order by t.task_id for no key update`,
});

/**
 * $1 = caller (jsonb), $2 = team id, $3 = user id, $4 = task ids, locked. A task whose assignee was decided while the lock waited is in
 * \`expected_assignees\` no more.
 */
export const assignExpectedStatement = defineStatement({
  name: 'assign_expected_tasks',
  text: /* sql */ `
with changed as (
  update tasks t set assigned_to = $3, version = version + 1, updated_at = now()
  where t.task_id = any($4::text[]) and t.assigned_to is null and exists (select from expected_assignees e where e.task_id = t.task_id)
  returning t.task_id, t.title, t.project_id, t.version, task_json(t) as json
), recorded as (
  select c.*, jsonb_build_object('assigned_to', jsonb_build_object('from', null, 'to', $3::uuid)) as changes from changed c
)
select count(*) as tasks, record_changes($1::jsonb, array_agg(make_change(team_id => $2::uuid, project_id => project_id,
    ${kindOfChange({ feature: 'tasks', action: 'update', entityType: 'task' })}, entity_id => task_id, title => title,
    details => jsonb_build_object('changes', changes, 'version', version, 'imported', true),
    summary => 'assigned the task to the new member, as its import says',
    event_type => ${eventType('task.updated')}, payload => jsonb_build_object('task', json, 'changes', changes)))) as audit_id
from recorded`,
});

/** $1 = team id, $2 = user id. What is left: tasks in the trash, or of another team by now. */
export const dropExpectedStatement = defineStatement({
  name: 'drop_expected_assignees',
  text: /* sql */ `
    delete from expected_assignees where team_id = $1 and email = (select u.email from users u where u.user_id = $2)`,
});

/** $1 = team id. Members whose address is kept: they joined while an import wrote. */
export const joinedStatement = defineStatement({
  name: 'expected_members',
  text: /* sql */ `
    select distinct u.user_id from expected_assignees e join users u on u.email = e.email
    join memberships m on m.team_id = e.team_id and m.user_id = u.user_id where e.team_id = $1`,
});

/** $1 = team id. Who joins the team at this moment comes first or after. */
export const lockExpectingStatement = defineStatement({
  name: 'lock_expecting_team',
  text: 'select from teams where team_id = $1 for no key update',
});
