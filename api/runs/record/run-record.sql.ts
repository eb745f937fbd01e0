/** Select list and joins of `RunView`, without the event, which may be large; $1 = caller id. A `where` follows. */
export const SELECT_RUNS = /* sql */ `
  select r.run_id, r.automation_id, r.automation_name, r.automation_version, r.team_id, r.project_id, r.creator_id, r.status,
    r.skip_reason, r.condition_error, r.trigger_type, r.event_truncated, r.is_test, r.triggered_by, r.depth, r.retry_of,
    r.retried_by, r.queued_at, r.started_at, r.finished_at, r.error, m.role as seat, acts.actions, met.gates
  from automation_runs r
  left join memberships m on m.team_id = r.team_id and m.user_id = $1
  left join lateral (
    select coalesce(json_agg(json_build_object('index', a.index, 'type', a.type, 'name', a.name, 'status', a.status,
      'attempts', a.attempts, 'started_at', a.started_at, 'finished_at', a.finished_at,
      'due_at', case when a.status = 'running' then a.due_at end, 'output', a.output, 'error', a.error)
      order by a.index), '[]') as actions
    from run_actions a where a.run_id = r.run_id
  ) acts on true
  left join lateral (
    select coalesce(json_agg(json_build_object('gate_index', g.gate_index, 'required_role', g.required_role,
      'required_approvals', g.required_approvals, 'requested_at', g.requested_at, 'expires_at', g.expires_at,
      'expired', g.decision is null and g.expires_at <= now(), 'decision', g.decision, 'decided_by', g.decided_by,
      'decided_at', g.decided_at, 'reason', g.reason,
      'approvals', (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index)) order by g.gate_index), '[]') as gates
    from gates g where g.run_id = r.run_id
  ) met on true`;
