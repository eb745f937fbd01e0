import type { Invariant } from './invariant.js';

/** Conditions on plans of the agent that hold whenever the system is idle. */
export const planInvariants: readonly Invariant[] = [
  {
    name: 'plans_applied_once',
    words:
      'An applied plan has exactly one entry of its confirmation, before every write that names it; any other plan has neither',
    sql: /* sql */ `
      with confirmed as (
        select entity_id, count(*) as entries, min(timestamp) as at from audit_entries
        where feature = 'ai_agent' and entity_type = 'agent_plan' and action = 'confirm' and outcome = 'success' group by entity_id
      ), written as (
        select details::jsonb->'caused_by'->>'action_id' as action_id, count(*) as writes, min(timestamp) as first
        from audit_entries where actor_type = 'agent' and details like '%"caused_by"%' group by 1
      )
      select format('plan %s is %s with %s confirmations and %s writes', p.action_id, p.status, coalesce(c.entries, 0), coalesce(w.writes, 0))
        as violation
      from agent_plans p left join confirmed c on c.entity_id = p.action_id::text left join written w on w.action_id = p.action_id::text
      where coalesce(c.entries, 0) <> (p.status = 'applied')::int or (w.writes > 0 and (c.at is null or w.first < c.at))`,
  },
  {
    name: 'plans_end',
    words: 'No plan is staged two minutes past its end',
    sql: /* sql */ `
      select format('plan %s is staged, yet its time was over at %s', action_id, expires_at) as violation from agent_plans
      where status = 'staged' and expires_at < clock_timestamp() - interval '2 minutes'`,
  },
  {
    name: 'plans_are_whole',
    words: 'Every action of an applied plan is applied or skipped, and of no other plan',
    sql: /* sql */ `
      select format('plan %s is %s, yet action %s is %s', p.action_id, p.status, a.index, coalesce(a.result, 'open')) as violation
      from agent_plans p join agent_actions a using (action_id) where (a.result is not null) <> (p.status = 'applied')`,
  },
  {
    name: 'triages_staged_once',
    words: 'A night, or a failed CI run, of a team has at most one plan beside those that take it back',
    sql: /* sql */ `
      select format('%s has %s plans', s.subject_key, count(p.action_id)) as violation
      from agent_sessions s left join agent_plans p on p.session_id = s.session_id and p.undo_of is null
      where s.kind in ('overnight_triage', 'ci_triage') group by s.session_id having count(p.action_id) <> 1`,
  },
];
