/** Select list and joins of `RunView`, without the event, which may be large; $1 = caller id. A `where` follows. */
const SELECT_RUNS = /* sql */ `
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
      'approvals', (select coalesce(json_agg(json_build_object('user_id', p.user_id, 'at', p.approved_at, 'comment', p.comment) order by p.approved_at), '[]')
        from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index)) order by g.gate_index), '[]') as gates
    from gates g where g.run_id = r.run_id
  ) met on true`;

/**
 * The same columns for skipped runs s, as `RunView` has them; $1 = caller id. A `where` follows. A version that is gone leaves the
 * automation's present name and trigger.
 */
const SELECT_SKIPPED = /* sql */ `
  select s.run_id, s.automation_id, coalesce(v.name, a.name), s.automation_version, a.team_id, a.project_id, a.created_by, 'skipped',
    case when s.is_loop then 'loop' else 'condition_false' end, s.condition_error, coalesce(v.trigger_type, a.trigger_type), false, false,
    s.triggered_by, s.depth::int, null::uuid, null::uuid, uuid_extract_timestamp(s.run_id), null::timestamptz,
    uuid_extract_timestamp(s.run_id), null::jsonb, m.role, acts.actions, '[]'::json
  from skipped_runs s join automations a using (automation_id)
  left join automation_versions v on v.automation_id = s.automation_id and v.version = s.automation_version
  left join memberships m on m.team_id = a.team_id and m.user_id = $1
  cross join lateral (
    select coalesce(json_agg(json_build_object('index', n - 1, 'type', e.value->>'type', 'name', e.value->>'name', 'status', 'skipped',
      'attempts', 0, 'started_at', null, 'finished_at', null, 'due_at', null, 'output', null, 'error', null) order by n), '[]') as actions
    from jsonb_array_elements(v.actions) with ordinality as e(value, n)
  ) acts`;

/** Selects runs of either table by id, newest first. `ids` is SQL of type uuid[]. */
export const runsByIds = (ids: string): string => /* sql */ `
  select found.* from (select ${ids}::uuid[] as ids offset 0) page cross join lateral (
    ${SELECT_RUNS} where r.run_id = any(page.ids)
    union all
    ${SELECT_SKIPPED} where s.run_id = any(page.ids)
  ) found order by queued_at desc, run_id desc`;

/** SQL: when a skipped run s was decided on; the index of its automation has it. */
export const SKIPPED_AT = 'uuid_extract_timestamp(s.run_id)';
