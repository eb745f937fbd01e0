/** The step of a run that asked for a turn. A session of an automation belongs to one step, which its subject key names. */
export interface TurnStep {
  run_id: string;
  index: number;
  /** Null if the run's row is gone. */
  automation_id: string | null;
  /** Null for a personal automation. */
  team_id: string | null;
  /** Depth of what the step causes, in the chain of automations. */
  depth: number;
  /** The run still waits for the answer. */
  is_open: boolean;
}

/** SQL: id of the run whose step has the session `s`; null for a session of another kind, whose subject key is not read. */
const buildRunIdSql = (s: string): string =>
  `case when ${s}.kind = 'automation' then split_part(${s}.subject_key, ':', 2)::uuid end`;

/** SQL: the `TurnStep` of a turn `t` as a column; null for the turn of a person. Locks nothing. */
export const stepOfTurn = (t: string): string => /* sql */ `(
    select json_build_object('run_id', split_part(s.subject_key, ':', 2), 'index', split_part(s.subject_key, ':', 3)::int,
      'automation_id', r.automation_id, 'team_id', s.team_id, 'depth', coalesce(r.depth, 0) + 1,
      'is_open', r.finished_at is null and coalesce(a.status = 'running', false))
    from agent_sessions s
    left join automation_runs r on r.run_id = ${buildRunIdSql('s')}
    left join run_actions a on a.run_id = r.run_id and a.index = split_part(s.subject_key, ':', 3)::int
    where s.session_id = ${t}.session_id and s.kind = 'automation'
  ) as step`;

/**
 * SQL: the insert that wakes the open turns of the runs of `from`, which have just ended: nobody waits for their answers, so each stops its call of
 * the model.
 */
export const wakeTurnsOfRun = (from: string): string => /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select 'turn.wake', t.message_id::text, jsonb_build_object('message_id', t.message_id, 'incarnation', t.incarnation), t.correlation_id
  from ${from} ended join run_actions a on a.run_id = ended.run_id and a.type = 'run_agent' cross join lateral (
    select s.session_id from agent_sessions s where s.subject_key = 'run:' || a.run_id || ':' || a.index limit 1
  ) s cross join lateral (
    select o.* from agent_turns o where o.session_id = s.session_id and o.finished_at is null limit 1
  ) t`;

/** SQL: the insert that wakes the open runs whose steps wait for a turn in a session of `from`. */
export const wakeRunOfTurn = (from: string): string => /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select 'run.wake', r.run_id::text, jsonb_build_object('run_id', r.run_id, 'incarnation', r.incarnation), r.correlation_id
  from (select distinct session_id from ${from}) ended join agent_sessions s using (session_id)
  join automation_runs r on r.run_id = ${buildRunIdSql('s')} where r.finished_at is null`;
