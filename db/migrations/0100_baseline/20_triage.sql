-- Settings, schedules, events and digest emails of the triage.

create table agent_settings (
  team_id uuid primary key references teams,
  overnight_enabled boolean not null default false,
  overnight_cron text not null default '0 2 * * *',
  overnight_timezone text not null default 'UTC',
  -- Whose permissions the overnight triage uses: who enabled it last.
  overnight_enabled_by uuid references users,
  ci_enabled boolean not null default false,
  -- Messages a month; null for no limit.
  monthly_message_quota integer check (monthly_message_quota >= 0),
  -- An admin allows a model outside this installation to read the team's words.
  external_model boolean not null default false,
  external_model_by uuid references users,
  updated_at timestamptz not null default now()
);

-- The Temporal Schedule of a team's overnight triage is a projection of its settings and of the team, so that a change of either notifies the
-- worker.
create function enqueue_triage_sync(team uuid) returns void language sql as $$
  insert into outbox (kind, subject, team_id, payload, correlation_id)
    values ('triage.sync', team::text, team, jsonb_build_object('team_id', team), uuidv7())
$$;

create function agent_settings_changed() returns trigger language plpgsql as $$
begin
  perform enqueue_triage_sync(new.team_id);
  return null;
end $$;
create trigger agent_settings_made after insert on agent_settings for each row when (new.overnight_enabled)
  execute function agent_settings_changed();
create trigger agent_settings_changed after update on agent_settings for each row
  when ((old.overnight_enabled, old.overnight_cron, old.overnight_timezone) is distinct from
    (new.overnight_enabled, new.overnight_cron, new.overnight_timezone))
  execute function agent_settings_changed();

create function triage_team_deleted() returns trigger language plpgsql as $$
begin
  if exists (select from agent_settings s where s.team_id = new.team_id and s.overnight_enabled) then
    perform enqueue_triage_sync(new.team_id);
  end if;
  return null;
end $$;
create trigger triage_team_deleted after update of deleted_at on teams for each row
  when (old.deleted_at is distinct from new.deleted_at) execute function triage_team_deleted();

-- A team whose CI triage is enabled subscribes to failures.
create function refresh_triage_subscription() returns trigger language plpgsql as $$
begin
  insert into event_subscriptions (owner_id, kind, event_types)
    values (new.team_id, 'triage',
      case when new.ci_enabled then '{forge.check_suite_failed,forge.workflow_run_failed}'::text[] else '{}' end)
    on conflict (owner_id, kind) do update set event_types = excluded.event_types;
  return null;
end $$;
create trigger triage_subscribed after insert or update of ci_enabled on agent_settings for each row
  execute function refresh_triage_subscription();

-- The last morning, in the user's own zone, for which staged plans were mailed.
create table agent_digests (
  user_id uuid primary key references users on delete cascade,
  sent_for date not null,
  sent_at timestamptz not null
);
