import { defineStatement } from '../../db/statement.js';

/** Rows of each kind that one question reads, so that no team makes a list of its tasks costly. */
const MAX_READ = 1_000;

/** SQL: rows of a kind that wait and name one of the keys, found by the index of those that are open. */
const about = (from: string, columns: string, waits: string): string => /* sql */ `
        select x.subjects, ${columns} from ${from}
        where ${waits} and x.subjects is not null and x.subjects && (select k.keys from keys k) limit ${MAX_READ}`;

/**
 * $1 = caller id, $2 = task ids, $3 = roles that may read tasks and gates, $4 = roles that may read plans and requests of a team, $5 = kinds, $6 = limit.
 * What waits for a yes and names the tasks, nearest deadline first. A key begins with the team, or the person, who may know of it: tasks of other teams
 * have none, and what other teams stage is not read. A change request alone may name a task as people do:
 * elsewhere an id is an id, and a task may be created with the name of another one as its id.
 */
export const waitingAboutStatement = defineStatement({
  name: 'waiting_about_tasks',
  text: /* sql */ `
    with seats as materialized (
      select m.team_id, m.role from memberships m where m.user_id = $1
    ), wanted as materialized (
      select t.task_id, s.role, k.key, k.is_name from tasks t join seats s on s.team_id = t.team_id join teams e on e.team_id = t.team_id
      cross join lateral (values
        (t.team_id::text || ' ' || t.task_id, false), ($1::uuid::text || ' ' || t.task_id, false),
        (t.team_id::text || ' ' || e.key || '-' || t.number, true)
      ) k(key, is_name)
      where t.task_id = any((select $2::text[])::text[]) and s.role = any($3::text[]) and k.key is not null
    ), keys as materialized (
      select array_agg(w.key) as keys from wanted w
    ), found as (
      select 'gate' as kind, g.*, false as is_inner from (${about(
        'gates x join automation_runs r using (run_id)',
        'r.run_id as id, r.gate_expires_at as at',
        "x.decision is null and r.status = 'paused' and r.gate_expires_at > now()",
      )}) g
      union all
      select 'plan', p.subjects, p.action_id, p.expires_at, p.team_id is not null
      from (${about('agent_plans x', 'x.action_id, x.expires_at, x.team_id, x.team_ids', "x.status = 'staged' and x.expires_at > now()")}) p
      where p.team_ids <@ array(select s.team_id from seats s)
      union all
      select 'request', q.*, true
      from (${about('change_requests x', 'x.request_id, x.expires_at', "x.status = 'pending' and x.expires_at > now()")}) q
    )
    select w.task_id, f.kind, f.id, min(f.at) as at
    from found f cross join lateral unnest(f.subjects) as u(key) join wanted w on w.key = u.key
    where f.kind = any($5::text[]) and (not w.is_name or f.kind = 'request') and (not f.is_inner or w.role = any($4::text[]))
    group by w.task_id, f.kind, f.id order by at, f.id limit $6`,
});
