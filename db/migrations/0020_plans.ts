import type { Knex } from 'knex';

/** Makes recording a change cheap in the common case without subscribers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(enqueueEvents);
  await knex.raw(plans);
}

const enqueueEvents = /* sql */ `
-- Unchanged in effect. The common call has one change without subscribers that moves no series: one query suffices.
create or replace function enqueue_events(who jsonb, changes change[]) returns integer language plpgsql as $$
declare
  actor uuid := (who->>'user_id')::uuid;
  subscribed boolean;
  moves boolean;
  unknown text;
  behind uuid[];
  written integer := 0;
  moved jsonb;
begin
  select bool_or(exists (select from event_subscriptions s where s.owner_id in (c.team_id, actor) and c.event_type = any(s.event_types))),
      bool_or(c.payload->'task'->>'series_id' is not null),
      min(c.event_type) filter (where not exists (select from event_types e where e.event_type = c.event_type))
    into subscribed, moves, unknown
    from unnest(changes) as c where c.event_type is not null;
  if unknown is not null then raise exception 'There is no event type %', unknown using errcode = '22023'; end if;
  if not (subscribed or moves) then return 0; end if;

  behind := people_behind(who);
  if subscribed then
    insert into outbox (kind, subject, event_id, team_id, project_id, actor_id, project_ids, payload, correlation_id, depth,
        caused_by_run, cause_user_ids)
      select 'event', c.event_type, coalesce(c.event_id, uuidv7()), c.team_id, c.project_id, actor,
        case when c.payload->'project_ids' is not null then array(select jsonb_array_elements_text(c.payload->'project_ids')::uuid) end,
        jsonb_build_object('actor_id', who->>'user_id') || coalesce(c.payload, '{}'), (who->>'correlation_id')::uuid,
        coalesce((who->>'depth')::int, 0), (who->>'run_id')::uuid, behind
      from unnest(changes) as c where c.event_type is not null and exists (
        select from event_subscriptions s where s.owner_id in (c.team_id, actor) and c.event_type = any(s.event_types));
    get diagnostics written = row_count;
  end if;
  -- Records who moved a recurring task: sync_series runs at the commit, when the caller is no longer known.
  if moves then
    select jsonb_object_agg(c.payload->'task'->>'task_id', jsonb_build_object('actor_id', who->>'user_id',
        'correlation_id', who->>'correlation_id', 'depth', who->'depth', 'run_id', who->>'run_id',
        'user_ids', array_append(behind, actor))) into moved
      from unnest(changes) as c where c.event_type is not null and c.payload->'task'->>'series_id' is not null;
    perform set_config('assent.series_causes',
      (coalesce(nullif(current_setting('assent.series_causes', true), ''), '{}')::jsonb || moved)::text, true);
  end if;
  return written;
end $$;
`;

/**
 * PostgreSQL overestimates the rows of an unknown array, considers a custom plan cheaper, and creates one per call, which costs ten times
 * as much as running it.
 */
const plans = /* sql */ `
alter function enqueue_events(jsonb, change[]) set plan_cache_mode = force_generic_plan;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
