import { defineStatement } from '../../../../db/statement.js';
import { CLAIM } from './claim-run.js';

const STEP_JSON = (a: string) =>
  `json_build_object('index', ${a}.index, 'type', ${a}.type, 'on_failure', ${a}.on_failure, 'status', ${a}.status, 'error', ${a}.error,
    'attempts', ${a}.attempts, 'due_at', ${a}.due_at, 'ms_left', greatest(0, coalesce(ceil(extract(epoch from ${a}.due_at - now()) * 1000), 0)))`;

/**
 * $4 = index, $5 = whether this counts as an attempt. Locks the run, then the step, and counts the attempt of an unfinished step.
 * Both rows are read after their locks, so they are current. The other steps change only under the run's lock, never while this
 * execution is at this step. Reads the creator's membership without a lock: operations lock the task, then the membership, and a
 * lock here would reverse that order.
 */
export const beginActionStatement = defineStatement({
  name: 'begin_action',
  text: /* sql */ `
with ${CLAIM}, step as (
  select a.* from run_actions a join run using (run_id) where a.index = $4 for update of a
), begun as (
  update run_actions a set attempts = a.attempts + $5::boolean::int, started_at = coalesce(a.started_at, now())
  from step where a.run_id = step.run_id and a.index = step.index and step.status not in ('succeeded', 'failed', 'skipped')
    and (step.due_at is null or step.due_at <= now())
)
select run.*, v.actions, v.schedule_timezone, gate.staged, gate.staged_hash, gate.rules as gate,
  (select ${STEP_JSON('step')} from step) as step,
  (select json_agg(${STEP_JSON('a')} order by a.index) from run_actions a where a.run_id = run.run_id) as steps,
  (select json_build_object('email', u.email, 'role', u.role, 'is_active', u.status = 'active', 'seat', m.role)
    from users u left join memberships m on m.team_id = run.team_id and m.user_id = u.user_id where u.user_id = run.creator_id) as creator
from run join automation_versions v on v.automation_id = run.automation_id and v.version = run.automation_version
left join lateral (
  select g.staged, g.staged_hash, case when g.asks_again then jsonb_build_object(
    'gate_index', g.gate_index, 'reopened', g.reopened, 'known_versions', g.known_versions) end as rules
  from gates g where g.run_id = run.run_id and g.gate_index < $4 order by g.gate_index desc limit 1
) gate on true`,
});
