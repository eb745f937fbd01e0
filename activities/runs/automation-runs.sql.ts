import { defineStatement } from '../../db/statement.js';
import { SETTLED_AFTER_MS } from '../worker/open-workflows.js';

/** SQL over a run r: the task of its event, and its steps. */
const ENTITY = `coalesce(r.event->'task'->>'task_id', r.event->'linked_task_ids'->>0)`;
const STEPS = /* sql */ `coalesce((
  select json_agg(json_build_object('index', a.index, 'type', a.type, 'label', coalesce(a.name, a.type)) order by a.index)
  from run_actions a where a.run_id = r.run_id and a.status <> 'skipped'), '[]')`;

/** $1 = leased outbox rows. What operators see of each run, and its steps. */
export const runDispatchesStatement = defineStatement({
  name: 'run_dispatches',
  text: /* sql */ `
  select o.outbox_id, o.kind, o.payload, o.correlation_id, r.run_id, r.automation_id, r.automation_name, r.team_id, r.project_id,
    r.creator_id, r.trigger_type, r.depth, r.is_test, r.triggered_by, r.retry_of, ${ENTITY} as entity_id, ${STEPS} as steps
  from outbox o join automation_runs r on r.run_id = (o.payload->>'run_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/**
 * $1 = run id after which to continue, $2 = row limit. Omits runs whose start is in the outbox. Every other open run was dispatched before this
 * statement, however young it is, because the outbox keeps a start until Temporal has it.
 */
export const openRunsStatement = defineStatement({
  name: 'open_runs',
  text: /* sql */ `
  select r.run_id, r.incarnation, r.claimed_by, false as is_start_due,
    case when r.status = 'paused' then 'paused' when d.due_at is not null then 'waiting' end as state,
    case when r.status = 'paused' then r.gate_expires_at else d.due_at end as until
  from automation_runs r
  left join lateral (select a.due_at from run_actions a
    where a.run_id = r.run_id and a.status = 'running' and a.due_at is not null limit 1) d on true
  where r.finished_at is null
    and not exists (select from outbox o where o.kind = 'run.start' and o.payload->>'run_id' = r.run_id::text)
    and r.run_id > $1 order by r.run_id limit $2`,
});

const IS_UNCLAIMED = `r.finished_at is null and r.status in ('queued', 'running') and r.claimed_by is null`;

/**
 * $1 = run id after which to continue, $2 = row limit. Runs that no execution has claimed for a while, whose start is not in the outbox: Temporal
 * has acknowledged it. Few, but in a backlog.
 */
export const unclaimedRunsStatement = defineStatement({
  name: 'unclaimed_runs',
  text: /* sql */ `
  select r.run_id, r.incarnation, r.claimed_by, false as is_start_due
  from automation_runs r
  where ${IS_UNCLAIMED} and r.queued_at < now() - make_interval(secs => ${SETTLED_AFTER_MS / 1_000})
    and not exists (select from outbox o where o.kind = 'run.start' and o.subject = r.run_id::text)
    and r.run_id > $1 order by r.run_id limit $2`,
});

/** Returns the time at which the oldest unclaimed run was queued. */
export const oldestUnclaimedStatement = defineStatement({
  name: 'oldest_unclaimed_run',
  text: `select coalesce(min(r.queued_at), now()) as oldest from automation_runs r where ${IS_UNCLAIMED}`,
});
