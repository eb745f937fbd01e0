-- Automations and their versions, what they subscribe to, and their schedules.

create table automations (
  automation_id uuid primary key default uuidv7(),
  name text not null,
  description text,
  trigger_type text not null,
  trigger_config jsonb not null default '{}',
  condition text,
  actions jsonb not null default '[]',
  is_active boolean not null default true,
  schedule_cron text,
  schedule_timezone text not null default 'UTC',
  team_id uuid references teams,
  -- No foreign key: purging a project leaves its automations and their runs behind.
  project_id uuid,
  version integer not null default 1,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_by uuid not null references users,
  updated_at timestamptz not null default now(),
  disabled_reason text,
  deleted_at timestamptz,
  -- Belongs to the automation, not to a version: a rollback never removes the protection.
  is_protected boolean not null default false,
  -- Users who enabled an automation, and who changed its schedule or took it over since.
  enabled_by uuid[] not null default '{}'
);
create index automations_armed on automations (trigger_type, team_id) where is_active and deleted_at is null;
create index automations_of_team on automations (team_id, created_at, automation_id) where deleted_at is null;
create index automations_of_creator on automations (created_by) where deleted_at is null and team_id is null;
create index automations_of_project on automations (project_id) where project_id is not null and deleted_at is null;
-- Includes disabled ones: removing a user locks all their automations, so that none is enabled concurrently.
create index automations_of_person on automations (created_by) where deleted_at is null;
-- Deleted automations still have readable runs.
create index automations_ever_of_team on automations (team_id) where team_id is not null;
create index automations_ever_of_creator on automations (created_by) where team_id is null;
create index automations_enabled_for_team on automations (team_id, trigger_type)
  where project_id is null and is_active and deleted_at is null;
create index automations_enabled_for_project on automations (project_id, trigger_type)
  where project_id is not null and is_active and deleted_at is null;

create table automation_versions (
  automation_id uuid not null references automations,
  version integer not null,
  name text not null,
  trigger_type text not null,
  trigger_config jsonb not null default '{}',
  condition text,
  actions jsonb not null,
  schedule_cron text,
  schedule_timezone text not null default 'UTC',
  changed_by uuid not null references users,
  changed_at timestamptz not null default now(),
  change_note text,
  restored_from integer,
  -- Authors of the actions that this version only repeats (a rename, a rollback, a change of owner), besides changed_by.
  co_authors uuid[] not null default '{}',
  -- Users who saved the actions that this version keeps from the previous one, besides changed_by: saving anything else, such as a rename, is
  -- no consent to them. Empty if the version's own author gave its actions.
  actions_kept_from uuid[] not null default '{}',
  primary key (automation_id, version)
);

-- A definition has at most 64 kB. Checked on versions, because every save writes one and nothing changes one. Not valid: larger ones from before
-- the rule keep running, and their rows may still be counted, paused and renamed by the product.
alter table automation_versions add constraint automation_versions_definition_size
  check (octet_length(actions::text) + octet_length(trigger_config::text) + coalesce(octet_length(condition), 0) <= 65536) not valid;

-- Recomputes the row of one owner. Locks it in a separate statement: the next statement then sees what the previous lock owner committed,
-- so two concurrent changes of automations both count.
create function refresh_automation_subscriptions(owner uuid) returns void language plpgsql as $$
begin
  insert into event_subscriptions (owner_id, kind) values (owner, 'automation') on conflict do nothing;
  perform from event_subscriptions s where s.owner_id = owner and s.kind = 'automation' for update;
  update event_subscriptions s set event_types = wanted.event_types
  from (
    select coalesce(array_agg(e.event_type order by e.event_type), '{}') as event_types from event_types e
    where exists (select from automations a where a.team_id = owner and a.trigger_type = any(e.triggers)
        and a.is_active and a.deleted_at is null)
      or exists (select from automations a where a.team_id is null and a.created_by = owner and a.trigger_type = any(e.triggers)
        and a.is_active and a.deleted_at is null)
  ) wanted
  where s.owner_id = owner and s.kind = 'automation' and s.event_types is distinct from wanted.event_types;
end $$;

-- Owners in a fixed order, so that two statements cannot deadlock.
create function automations_inserted() returns trigger language plpgsql as $$
begin
  perform refresh_automation_subscriptions(o.owner_id)
  from (select distinct coalesce(team_id, created_by) as owner_id from changed where is_active and deleted_at is null order by 1) o;
  return null;
end $$;
create trigger automations_inserted after insert on automations referencing new table as changed
  for each statement execute function automations_inserted();
create trigger automations_deleted after delete on automations referencing old table as changed
  for each statement execute function automations_inserted();

create function automations_updated() returns trigger language plpgsql as $$
begin
  perform refresh_automation_subscriptions(o.owner_id)
  from (
    select distinct owner.owner_id from was w join changed c using (automation_id)
    cross join lateral (values (coalesce(w.team_id, w.created_by)), (coalesce(c.team_id, c.created_by))) owner (owner_id)
    where (w.trigger_type, w.is_active and w.deleted_at is null, w.team_id, w.created_by)
      is distinct from (c.trigger_type, c.is_active and c.deleted_at is null, c.team_id, c.created_by)
    order by 1
  ) o;
  return null;
end $$;
create trigger automations_updated after update on automations referencing old table as was new table as changed
  for each statement execute function automations_updated();

-- An automation's Temporal Schedule is a projection of its row, so any change of the row notifies the worker.
create function enqueue_schedule_sync() returns trigger language plpgsql as $$
begin
  insert into outbox (kind, subject, team_id, payload, correlation_id)
    values ('schedule.sync', new.automation_id::text, new.team_id, jsonb_build_object('automation_id', new.automation_id), uuidv7());
  return null;
end $$;
create trigger schedule_made after insert on automations for each row when (new.trigger_type = 'schedule')
  execute function enqueue_schedule_sync();
create trigger schedule_changed after update on automations for each row
  when ((old.trigger_type = 'schedule' or new.trigger_type = 'schedule') and
    (old.trigger_type, old.schedule_cron, old.schedule_timezone, old.is_active, old.deleted_at) is distinct from
    (new.trigger_type, new.schedule_cron, new.schedule_timezone, new.is_active, new.deleted_at))
  execute function enqueue_schedule_sync();
