import { defineStatement } from '../../../db/statement.js';
import { WRITING } from './content.js';

/** The relay starts a run within seconds of the change; one that is not there by then will not come. */
const START_SECONDS = 15;

/**
 * $1 = user id, $2 = roles that may fill a team. The newest example that the user has filled a team with and may still work on: its automation, the
 * task that starts it, and its last run that met the condition. No row: none.
 */
export const firstStepsStatement = defineStatement({
  name: 'first_steps',
  text: /* sql */ `
    select t.team_id, t.name as team_name, p.project_id, a.is_active, k.task_id, k.title as task_title, k.status as task_status,
      r.run_id, r.status as run_status, r.skip_reason, r.finished_at,
      exists (select from gates g where g.run_id = r.run_id and g.decision = 'approved') as is_approved,
      coalesce(a.is_active and k.completed_at > greatest(r.queued_at, now() - interval '${START_SECONDS} seconds'), false) as is_starting
    from memberships m
    join teams t on t.team_id = m.team_id and t.deleted_at is null
    join projects p on p.project_id = t.example_project_id and p.deleted_at is null and p.created_by = $1
    left join automations a on a.automation_id = p.project_id and a.deleted_at is null
    left join tasks k on k.task_id = p.project_id || '${WRITING}' and k.deleted_at is null
    left join lateral (
      select * from automation_runs r where r.automation_id = a.automation_id and not r.is_test
        and r.skip_reason is distinct from 'condition_false'
      order by r.queued_at desc limit 1
    ) r on true
    where m.user_id = $1 and m.role = any($2::text[])
    order by p.created_at desc limit 1`,
});
