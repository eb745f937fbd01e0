import { defineStatement } from '../../../../db/statement.js';
import { kindOfChange } from '../../../platform/changes/make-change.sql.js';

/** Plans that one call expires. */
export const BATCH = 500;

/**
 * $1 = caller (jsonb), $2 = plan id, or null for all. Closes plans past their deadline, each with its trace, and wakes their workflows. A plan
 * that is being decided is skipped: the decision sees the time itself.
 */
export const expirePlansStatement = defineStatement({
  name: 'expire_plans',
  text: /* sql */ `
    with closed as (
      update agent_plans p set status = 'expired' where p.action_id = any(array(
        select d.action_id from agent_plans d
        where d.status = 'staged' and d.expires_at <= clock_timestamp() and ($2::uuid is null or d.action_id = $2)
        order by d.expires_at limit ${BATCH} for update skip locked))
      returning p.action_id, p.source, p.team_id, p.team_ids, p.project_id, p.incarnation, p.correlation_id
    ), woken as (
      insert into outbox (kind, subject, payload, correlation_id)
      select 'plan.wake', c.action_id::text, jsonb_build_object('action_id', c.action_id, 'incarnation', c.incarnation), c.correlation_id
      from closed c where $2::uuid is null
    ), recorded as (
      select record_changes($1::jsonb, array_agg(make_change(team_id => coalesce(c.team_id, c.team_ids[1]), project_id => c.project_id,
        ${kindOfChange({ feature: 'ai_agent', action: 'expire', entityType: 'agent_plan' })}, entity_id => c.action_id::text))) as audit_id
      from closed c having count(*) > 0
    )
    select coalesce(array_agg(source), '{}') as sources, (select count(audit_id) from recorded) as recorded from closed`,
});

/** $1 = plan id. Claims the reminder of a plan, so that it is sent once. */
export const claimReminderStatement = defineStatement({
  name: 'claim_plan_reminder',
  text: /* sql */ `
    update agent_plans set reminded_at = clock_timestamp()
    where action_id = $1 and status = 'staged' and reminded_at is null and remind_at <= clock_timestamp() and expires_at > clock_timestamp()
    returning owner_id, team_id, source, risk, summary, expires_at`,
});

/** $1 = plan id. */
export const viewPlanStatement = defineStatement({
  name: 'view_plan',
  text: /* sql */ `
    select p.status as state, p.source, p.expires_at, p.decided_by, p.decided_at, p.closed_reason as reason,
      p.remind_at is not null and p.reminded_at is null as reminds,
      ceil(greatest(extract(epoch from case when p.remind_at is not null and p.reminded_at is null then p.remind_at else p.expires_at end
        - clock_timestamp()) * 1000, 0))::float8 as ms_left,
      (select count(*)::int from agent_actions a where a.action_id = p.action_id) as changes,
      (select count(*)::int from agent_actions a where a.action_id = p.action_id and a.risk = 'high') as high
    from agent_plans p where p.action_id = $1`,
});

/** $1 = leased outbox rows. What operators see of each plan. */
export const planDispatchesStatement = defineStatement({
  name: 'plan_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind, o.correlation_id, p.action_id, p.session_id, coalesce(p.team_id, p.team_ids[1]) as team_id, p.project_id, p.staged_for, p.source, p.status, p.depth,
      p.expires_at,
      (select count(*)::int from agent_actions a where a.action_id = p.action_id) as changes,
      (select count(*)::int from agent_actions a where a.action_id = p.action_id and a.risk = 'high') as high
    from outbox o join agent_plans p on p.action_id = (o.payload->>'action_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/** $1 = plan id after which to continue, $2 = row limit. Staged plans whose start is not in the outbox. */
export const openPlansStatement = defineStatement({
  name: 'open_plans',
  text: /* sql */ `
    select p.action_id from agent_plans p
    where p.status = 'staged' and p.action_id > $1
      and not exists (select from outbox o where o.kind = 'plan.start' and o.subject = p.action_id::text)
    order by p.action_id limit $2`,
});

/** $1 = plan ids. Enqueues their starts again. */
export const restartPlansStatement = defineStatement({
  name: 'restart_plans',
  text: /* sql */ `
    with restarted as (
      update agent_plans p set incarnation = p.incarnation + 1 where p.action_id = any($1::uuid[]) and p.status = 'staged'
      returning p.action_id, p.incarnation, p.correlation_id
    )
    insert into outbox (kind, subject, payload, correlation_id)
    select 'plan.start', r.action_id::text, jsonb_build_object('action_id', r.action_id, 'incarnation', r.incarnation), r.correlation_id
    from restarted r returning outbox_id`,
});
