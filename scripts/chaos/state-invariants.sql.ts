import type { Invariant } from './invariant.js';

/** Conditions that hold whenever the system is idle, whatever was written before. */
export const always: readonly Invariant[] = [
  {
    name: 'effects_once',
    words: 'An action that succeeded has exactly one effect, any other action none',
    sql: /* sql */ `
      select format('run %s, action %s: %s with %s effects', a.run_id, a.index, a.status, count(e.run_id)) as violation
      from run_actions a join automation_runs r using (run_id) left join effects e on e.run_id = a.run_id and e.action_index = a.index
      where a.type not in ('require_approval', 'delay') and not r.is_test
      group by a.run_id, a.index, a.status having count(e.run_id) <> (a.status = 'succeeded')::int`,
  },
  {
    name: 'effects_traced',
    words: 'A run wrote no more than its effects: every comment and task it made is there, with one audit entry',
    sql: /* sql */ `
      with written as (
        select (details::jsonb->'caused_by'->>'run_id')::uuid as run_id, action, entity_type, entity_id,
          details::jsonb->>'task_id' as task_id
        from audit_entries
        -- An action that sends reads secrets, which is no effect.
        where actor_type = 'automation' and outcome = 'success' and action <> 'read' and details like '%"caused_by"%'
      ), counted as (
        select r.run_id, (select count(*) from effects e where e.run_id = r.run_id) as effects,
          (select count(*) from written w where w.run_id = r.run_id) as entries
        from automation_runs r
      )
      select format('run %s has %s effects, yet %s audit entries', run_id, effects, entries) as violation
      from counted where entries > effects
      union all
      select format('the %s %s of run %s has %s entries of its making', e.entity_type, e.entity_id, e.run_id, count(w.run_id))
      from effects e join run_actions a on a.run_id = e.run_id and a.index = e.action_index
      left join written w on w.run_id = e.run_id and w.entity_id = e.entity_id and w.action = 'create'
      where a.type in ('add_comment', 'create_task') group by e.entity_type, e.entity_id, e.run_id having count(w.run_id) <> 1
      union all
      -- A comment disappears only when its task is purged.
      select format('the comment %s of run %s is not there', e.entity_id, e.run_id)
      from effects e join written w on w.run_id = e.run_id and w.entity_id = e.entity_id join tasks t on t.task_id = w.task_id
      where e.entity_type = 'comment' and not exists (select from comments c where c.comment_id::text = e.entity_id)`,
  },
  {
    name: 'gates_kept',
    words: 'Nothing happened behind a gate before it was approved',
    sql: /* sql */ `
      select format('run %s, action %s: done behind gate %s, which is %s', e.run_id, e.action_index, g.gate_index,
        coalesce(g.decision, 'undecided')) as violation
      from effects e join gates g on g.run_id = e.run_id and g.gate_index < e.action_index
      where g.decision is distinct from 'approved' or e.created_at < g.decided_at`,
  },
  {
    name: 'paused_runs_wait',
    words: 'A paused run has exactly one undecided gate, waits until its deadline, and only a paused run has one',
    sql: /* sql */ `
      select format('run %s is %s with %s undecided gates', r.run_id, r.status, count(g.run_id)) as violation
      from automation_runs r left join gates g on g.run_id = r.run_id and g.decision is null
        and (r.status <> 'paused' or g.expires_at = r.gate_expires_at)
      where r.finished_at is null group by r.run_id, r.status having count(g.run_id) <> (r.status = 'paused')::int`,
  },
  {
    name: 'ends_are_whole',
    words: 'A run that ended says when, and none of its actions is still to come',
    sql: /* sql */ `
      select format('run %s is %s, yet finished_at is %s', run_id, status, coalesce(finished_at::text, 'empty')) as violation
      from automation_runs where (finished_at is null) <> (status in ('queued', 'running', 'paused'))
      union all
      select format('run %s ended, yet action %s is %s', r.run_id, a.index, a.status)
      from automation_runs r join run_actions a using (run_id)
      where r.finished_at is not null and a.status in ('pending', 'running', 'staged')`,
  },
  {
    name: 'events_fire_once',
    words: 'An event started an automation at most once; a replay names the run it repeats',
    sql: /* sql */ `
      select format('event %s started automation %s %s times', event->>'event_id', automation_id, count(*)) as violation
      from automation_runs where retry_of is null and event ? 'event_id'
      group by automation_id, event->>'event_id' having count(*) > 1`,
  },
  {
    name: 'deliveries_settled',
    words: 'Every delivery that was taken in has an outcome or waits in the outbox',
    sql: /* sql */ `
      select format('delivery %s has no outcome and nothing is left to give it one', delivery_id) as violation
      from forge_deliveries d where d.outcome is null
        and not exists (select from outbox o where o.kind = 'forge.delivery' and o.payload->>'receipt_id' = d.receipt_id::text)`,
  },
  {
    name: 'outbox_empty',
    words: 'Nothing has been waiting in the outbox for more than 5 s',
    sql: /* sql */ `
      select format('%s %s waits since %s after %s attempts: %s', kind, subject, created_at, attempts, coalesce(last_error, 'no error'))
        as violation
      from outbox where created_at < clock_timestamp() - interval '5 seconds' order by outbox_id`,
  },
  {
    name: 'trash_is_whole',
    words: 'No live task, note, file, whiteboard or doc is in a trashed project or team',
    sql: /* sql */ `
      select format('task %s is live in what is in the trash', t.task_id) as violation
      from tasks t join projects p using (project_id) join teams m on m.team_id = p.team_id
      where t.deleted_at is null and (p.deleted_at is not null or m.deleted_at is not null)
      union all
      select format('%s %s is live in what is in the trash', i.item_type, i.item_id)
      from items i join teams m using (team_id) left join projects p on p.project_id = i.project_id
      where i.deleted_at is null and (p.deleted_at is not null or m.deleted_at is not null)`,
  },
  {
    name: 'versions_count_changes',
    words: 'A version is 1 plus the changes on record; only moves to and from the trash go without a row of their own',
    sql: /* sql */ `
      with recorded as (
        select entity_id as task_id, count(*) as rows, count(distinct details::jsonb->>'version') as versions,
          max((details::jsonb->>'version')::int) as newest
        from audit_entries where feature = 'tasks' and action = 'update' and entity_type = 'task' group by entity_id
      ), moves as (
        select t.project_id from audit_entries a
        join (select task_id as id, project_id from tasks union all select project_id::text, project_id from projects) t on t.id = a.entity_id
        where a.entity_type in ('task', 'project') and a.action in ('delete', 'restore')
        -- The undo of an import moves many with one entry.
        union all select t.project_id from bulk_rows r join tasks t on t.task_id = r.item_id where r.entity = 'task' and r.undone_at is not null
      ), moved as (
        select project_id, count(*) as moves from moves group by project_id
      )
      select format('task %s is at version %s with %s changes on record and %s moves of its project', t.task_id, t.version,
        coalesce(r.rows, 0), coalesce(m.moves, 0)) as violation
      from tasks t left join recorded r using (task_id) left join moved m using (project_id)
      where t.version - 1 - coalesce(r.rows, 0) not between 0 and coalesce(m.moves, 0)
        or r.rows <> r.versions or r.newest > t.version
      union all
      select format('automation %s is at version %s with %s stored versions', a.automation_id, a.version, count(v.version))
      from automations a left join automation_versions v using (automation_id)
      group by a.automation_id, a.version having count(v.version) < least(a.version, 2) or max(v.version) is distinct from a.version`,
  },
  {
    name: 'tokens_limited',
    words: 'Nobody has more than 50 active tokens',
    sql: /* sql */ `
      select format('user %s has %s', user_id, count(*)) as violation from personal_access_tokens
      where revoked_at is null and (expires_at is null or expires_at > now()) group by user_id having count(*) > 50`,
  },
  {
    name: 'teams_have_admin',
    words: 'Every live team has an admin whose account was not deprovisioned',
    sql: /* sql */ `
      select format('team %s has no admin', t.team_id) as violation from teams t
      where t.deleted_at is null and not exists (select from memberships m join users u using (user_id)
        where m.team_id = t.team_id and m.role = 'admin' and u.status <> 'deprovisioned')`,
  },
  {
    name: 'enabled_automations_have_creators',
    words: 'The creator of every enabled automation may write where it acts',
    sql: /* sql */ `
      select format('automation %s is enabled, and its creator %s is %s with the role %s', a.automation_id, a.created_by, u.status,
        coalesce(m.role, 'none')) as violation
      from automations a join users u on u.user_id = a.created_by
      left join memberships m on m.team_id = a.team_id and m.user_id = a.created_by
      where a.is_active and a.deleted_at is null
        and (u.status <> 'active' or (a.team_id is not null and (m.role is null or m.role = 'guest')))`,
  },
  {
    name: 'deprovisioned_keep_nothing',
    words: 'A deprovisioned user holds no membership, no token and no session',
    sql: /* sql */ `
      select format('user %s is gone, and yet has %s roles, %s tokens, %s sessions', user_id, seats, tokens, sessions) as violation
      from deprovision_jobs j, lateral (select
        (select count(*) from memberships m where m.user_id = j.user_id) as seats,
        (select count(*) from personal_access_tokens t where t.user_id = j.user_id and t.revoked_at is null) as tokens,
        (select count(*) from sessions s where s.user_id = j.user_id and s.ended_at is null) as sessions) left_behind
      where j.status = 'succeeded' and (seats, tokens, sessions) <> (0, 0, 0)`,
  },
];
