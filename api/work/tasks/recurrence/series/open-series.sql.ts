import { defineStatement } from '../../../../../db/statement.js';

/** $1 = leased outbox rows. What operators see of each series. */
export const seriesDispatchesStatement = defineStatement({
  name: 'series_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind, o.correlation_id, (o.payload->>'occurrence_index')::int as occurrence_index, s.series_id, s.team_id,
      o.project_id, s.created_by, s.recurrence->>'rule' as rule, s.recurrence->>'mode' as mode, s.recurrence->>'timezone' as timezone,
      s.last_task_id
    from outbox o join task_series s on s.series_id = (o.payload->>'series_id')::uuid where o.outbox_id = any($1::bigint[])`,
});

/** $1 = series id after which to continue, $2 = row limit. Open series without a row in the outbox. */
export const openSeriesStatement = defineStatement({
  name: 'open_series',
  text: /* sql */ `
    select series_id, last_task_id, next_at, completed_index >= last_index and blocked_reason is null as is_due from task_series s
    where ended_at is null and series_id > $1
      and not exists (select from outbox o where o.subject = s.series_id::text and o.kind like 'series.%')
    order by series_id limit $2`,
});

/** $1 = series ids. Enqueues their starts again, in the trace of their cause. */
export const restartSeriesStatement = defineStatement({
  name: 'restart_series',
  text: /* sql */ `
    insert into outbox (kind, subject, team_id, payload, correlation_id)
    select 'series.changed', series_id::text, team_id, jsonb_build_object('series_id', series_id, 'occurrence_index', last_index),
      coalesce((cause->>'correlation_id')::uuid, uuidv7())
    from task_series where series_id = any($1::uuid[]) and ended_at is null returning outbox_id`,
});
