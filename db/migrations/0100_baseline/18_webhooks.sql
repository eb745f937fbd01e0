-- Outbound webhooks: endpoints, their deliveries, and the events that a delivery carries.

-- Both secrets are encrypted, bound to the endpoint's id. After a rotation the previous one also signs until "previous_until".
create table webhooks (
  webhook_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  url text not null,
  description text,
  -- Exact names, "family.*" or "*", as written by the caller.
  events text[] not null check (cardinality(events) > 0),
  -- Names in "event_types" that amount to one of them. Set by a trigger.
  event_types text[] not null default '{}',
  -- Increased by every change of the events.
  version integer not null default 1,
  is_active boolean not null default true,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  data_key bytea not null,
  sealed_value bytea not null,
  previous_data_key bytea,
  previous_sealed_value bytea,
  previous_until timestamptz,
  secret_prefix text not null,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(previous_data_key, previous_sealed_value, previous_until) in (0, 3)),
  check (disabled_reason is null or not is_active)
);
create index webhooks_of_team on webhooks (team_id, webhook_id);
-- The audience of an event.
create index webhooks_to_notify on webhooks (team_id) where is_active;

-- How the last deliveries went. Apart from the endpoint, because it changes with every attempt.
create table webhook_health (
  webhook_id uuid primary key references webhooks on delete cascade,
  -- Failed attempts since the last success.
  failure_count integer not null default 0,
  -- The first of them.
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- The last email to the admins that it was disabled.
  mailed_at timestamptz
) with (fillfactor = 50);

-- What is sent, once for all endpoints of the team; "body" is the exact text that is signed.
create table webhook_events (
  event_id uuid not null,
  team_id uuid not null,
  event_type text not null,
  body text not null,
  primary key (event_id)
) partition by range (event_id);
select register_partitions('webhook_events', 'day', ahead => 3, keep => 30);

-- Deliveries with an attempt to make. Small, however many deliveries there were. No foreign key: a cascade over the queue of a receiver that was
-- down for weeks would hold its locks for minutes. Whoever inserts locks the endpoint; workers delete what one has left.
create table webhook_queue (
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  tries smallint not null default 0,
  -- [{at, status_code, duration_ms, error, response}], oldest first, the last 20.
  attempts jsonb not null default '[]',
  -- The next attempt, or the end of the lease of the current one.
  next_attempt_at timestamptz not null default now(),
  is_leased boolean not null default false,
  primary key (webhook_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- An endpoint's requests in progress, and what it is due. The claim walks from endpoint to endpoint.
create index webhook_queue_due on webhook_queue (webhook_id, is_leased, next_attempt_at);
-- Counted before another test is queued, however many deliveries wait.
create index webhook_queue_tests on webhook_queue (webhook_id) where event_type = 'webhook.test';

-- Deliveries that ended. A repeated one goes back into the queue. One index for all: the newest of an endpoint, what of a range of time failed, and
-- one delivery by two probes. Its id is made of those of endpoint and event, so it is not stored.
create table webhook_deliveries (
  event_id uuid not null,
  webhook_id uuid not null,
  event_type text not null,
  status text not null check (status in ('succeeded', 'failed')),
  attempts jsonb not null,
  primary key (webhook_id, status, event_id)
) partition by range (event_id);
select register_partitions('webhook_deliveries', 'day', ahead => 3, keep => 30);

-- Event types of which a change amounts to one of the events. An endpoint receives nothing from the code host: it can subscribe there. One that
-- asks for "task.deleted" asks for "task.cascade_deleted" too.
create or replace function webhook_event_types(events text[]) returns text[] language sql stable as $$
  select coalesce(array_agg(e.event_type order by e.event_type), '{}') from event_types e
  where e.event_type not like all ('{forge.%,security.%,relation.%}') and exists (
    select from unnest(e.triggers || replace(e.event_type, '.cascade_', '.')) name, unnest(events) pattern
    where pattern in ('*', name, split_part(name, '.', 1) || '.*'))
$$;

create function webhook_resolve_events() returns trigger language plpgsql as $$
begin
  new.event_types := webhook_event_types(new.events);
  if tg_op = 'UPDATE' and new.events is distinct from old.events then new.version := old.version + 1; end if;
  return new;
end $$;
create trigger webhook_resolve_events before insert or update of events on webhooks
  for each row execute function webhook_resolve_events();

-- Locks the team's row in a separate statement: the next statement then sees what the previous lock owner committed.
create function refresh_webhook_subscriptions() returns trigger language plpgsql as $$
declare
  team uuid := case when tg_op = 'DELETE' then old.team_id else new.team_id end;
begin
  insert into event_subscriptions (owner_id, kind) values (team, 'webhook') on conflict do nothing;
  perform from event_subscriptions s where s.owner_id = team and s.kind = 'webhook' for update;
  update event_subscriptions s set event_types = wanted.event_types
  from (
    select coalesce(array_agg(distinct each order by each), '{}') as event_types
    from webhooks w cross join unnest(w.event_types) each where w.team_id = team and w.is_active
  ) wanted
  where s.owner_id = team and s.kind = 'webhook' and s.event_types is distinct from wanted.event_types;
  return null;
end $$;

-- The dispatcher only updates the row: an insert could meet an endpoint that was deleted meanwhile.
create function create_webhook_health() returns trigger language plpgsql as $$
begin
  insert into webhook_health (webhook_id) values (new.webhook_id);
  return null;
end $$;
create trigger webhook_health_created after insert on webhooks for each row execute function create_webhook_health();
create trigger webhooks_subscribed after insert or delete or update of events, is_active on webhooks
  for each row execute function refresh_webhook_subscriptions();
