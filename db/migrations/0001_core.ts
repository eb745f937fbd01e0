import type { Knex } from 'knex';
import { partitions } from './parts/0001_partitions.js';

/**
 * Users, teams, projects, tasks, comments, and the traces of every write: activity, audit, outbox. Ids are UUIDv7, except `task_id`, which
 * is text because clients may choose it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(partitions);
  await knex.raw(/* sql */ `
create table users (
  user_id uuid primary key default uuidv7(),
  email text not null unique check (email = lower(email)),
  name text not null,
  username text not null unique,
  display_name text not null,
  avatar text not null,
  role text not null default 'user' check (role in ('user', 'admin')),
  status text not null default 'active' check (status in ('active', 'suspended', 'deprovisioned')),
  password_hash text,
  two_factor_secret text,
  two_factor_enabled_at timestamptz,
  login_otp_exempt boolean not null default false,
  preferences jsonb not null default '{}',
  failed_logins integer not null default 0,
  first_failed_login_at timestamptz,
  locked_until timestamptz,
  created_at timestamptz not null default now()
);

create table sessions (
  session_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  impersonator_id uuid references users,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index sessions_of_user on sessions (user_id) where ended_at is null;

create table personal_access_tokens (
  token_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  token_hash bytea not null unique,
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index tokens_of_user on personal_access_tokens (user_id);

create table teams (
  team_id uuid primary key default uuidv7(),
  name text not null,
  description text,
  plan text not null default 'scale' check (plan in ('free', 'team', 'scale')),
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);

create table memberships (
  team_id uuid not null references teams,
  user_id uuid not null references users,
  role text not null check (role in ('admin', 'manager', 'member', 'guest')),
  joined_at timestamptz not null default now(),
  primary key (team_id, user_id)
);
create index memberships_of_user on memberships (user_id);

create table conversations (
  conversation_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  title text not null,
  is_default boolean not null,
  created_at timestamptz not null default now()
);
create index conversations_of_team on conversations (team_id);

-- Item ids are unique over all six item types, whether generated or chosen by a client.
create table item_keys (
  item_id text primary key,
  item_type text not null check (item_type in ('task', 'project', 'file', 'note', 'whiteboard', 'doc'))
);

create table projects (
  project_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  name text not null,
  description text,
  status text not null default 'active' check (status in ('active', 'archived', 'completed')),
  start_date date,
  end_date date,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  deleted_by uuid references users,
  cascade_id uuid,
  check (end_date >= start_date),
  -- Target of foreign keys from a project's content that include the team.
  unique (project_id, team_id)
);
create index projects_of_team on projects (team_id, created_at, project_id) where deleted_at is null;

create table tasks (
  task_id text primary key references item_keys,
  project_id uuid not null,
  team_id uuid not null,
  title text not null,
  description text,
  assigned_to uuid references users,
  status text not null default 'todo' check (status in ('todo', 'in_progress', 'in_review', 'done')),
  priority text not null default 'medium' check (priority in ('low', 'medium', 'high', 'urgent')),
  due_date text check (due_date ~ '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z|)$'),
  tags text[] not null default '{}',
  estimated_hours double precision check (estimated_hours between 0 and 1000),
  actual_hours double precision not null default 0 check (actual_hours >= 0),
  parent_task_id text references tasks,
  position double precision,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  is_archived boolean not null default false,
  forge_links jsonb not null default '[]',
  version integer not null default 1,
  deleted_at timestamptz,
  deleted_by uuid references users,
  cascade_id uuid,
  foreign key (project_id, team_id) references projects (project_id, team_id)
) with (fillfactor = 90);
create index tasks_of_project on tasks (project_id, position nulls last, created_at, task_id) where deleted_at is null;
create index tasks_of_team on tasks (team_id, position nulls last, created_at, task_id) where deleted_at is null;
create index trashed_tasks on tasks (team_id, deleted_at) where deleted_at is not null;
create index trashed_projects on projects (team_id, deleted_at) where deleted_at is not null;
create index tasks_of_assignee on tasks (assigned_to, position nulls last, created_at, task_id)
  where deleted_at is null and assigned_to is not null;
create index tasks_of_parent on tasks (parent_task_id) where parent_task_id is not null;
create index tasks_of_cascade on tasks (cascade_id) where cascade_id is not null;

create table comments (
  comment_id uuid primary key default uuidv7(),
  task_id text not null references tasks,
  team_id uuid not null references teams,
  parent_comment_id uuid references comments,
  content text not null,
  author_id uuid not null references users,
  mentions uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  edited boolean not null default false,
  deleted_at timestamptz
);
create index comments_of_task on comments (task_id, created_at);

create table activity (
  activity_id uuid primary key default uuidv7(),
  timestamp timestamptz not null default now(),
  user_id uuid,
  actor_type text not null,
  action text not null,
  entity_type text not null,
  entity_id text not null,
  entity_title text,
  team_id uuid,
  project_id uuid,
  summary text not null
) partition by range (activity_id);
create index activity_of_team on activity (team_id, activity_id);
select register_partitions('activity', 'month', ahead => 3, keep => 13);

-- Appended inside the change's own transaction, never changed. "timestamp" and "details" are text because the chain hashes exactly what is
-- stored and the API compares times lexicographically.
create table audit_entries (
  audit_id uuid primary key,
  correlation_id uuid not null,
  timestamp text not null,
  team_id uuid,
  user_id uuid,
  user_email text,
  actor_type text not null,
  impersonator_id uuid,
  token_id uuid,
  ip_address text,
  user_agent text,
  feature text not null,
  action text not null,
  severity text not null check (severity in ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  outcome text not null check (outcome in ('success', 'failure', 'denied')),
  entity_type text not null,
  entity_id text,
  details text not null
) partition by range (audit_id);
create index audit_of_team on audit_entries (team_id, timestamp, audit_id);
create index audit_of_correlation on audit_entries (correlation_id);

-- Entries that the sealer must still link: inserted with the entry, deleted with the seal. No foreign key: one function writes both rows,
-- entries are never deleted, and the check would be a quarter of the cost of an entry. Seals have none either: they outlast archived entries.
create table audit_pending (audit_id uuid primary key, chain uuid not null);
create table audit_seals (
  chain uuid not null,
  sequence bigint not null,
  audit_id uuid not null unique,
  prev_hash bytea not null,
  entry_hash bytea not null,
  primary key (chain, sequence),
  unique (chain, prev_hash)
);
create table audit_heads (chain uuid primary key, sequence bigint not null, entry_hash bytea not null);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end $$;
create trigger audit_entries_append_only before update or delete on audit_entries for each row execute function refuse_change();
create trigger audit_entries_keep before truncate on audit_entries for each statement execute function refuse_change();
select register_partitions('audit_entries', 'month', ahead => 3, append_only => true);
create trigger audit_seals_append_only before update or delete on audit_seals for each row execute function refuse_change();
create trigger audit_seals_keep before truncate on audit_seals for each statement execute function refuse_change();
-- The service's role may only insert and read; the owner of the schema keeps all other rights.
select revoke_from_others(guarded, 'update, delete, truncate') from unnest('{audit_entries,audit_seals}'::regclass[]) guarded;

-- Inserted with the change that causes it; the relay claims, acts and deletes.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  kind text not null,
  subject text not null,
  event_id uuid not null default uuidv7(),
  team_id uuid,
  project_id uuid,
  payload jsonb not null default '{}',
  correlation_id uuid not null,
  depth integer not null default 0,
  caused_by_run uuid,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  created_at timestamptz not null default now()
);
create index outbox_due on outbox (next_attempt_at, outbox_id);
-- A queue: dead rows count, not their share.
alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
alter table audit_pending set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Counters of the rate limits, unlogged: a crash may empty them.
create unlogged table rate_limits (key text primary key, points integer not null default 0, expire bigint);
create index rate_limits_expired on rate_limits (expire);

-- Live processes: the API reports the worker and Temporal from here, without a Temporal client.
create unlogged table heartbeats (process text primary key, seen_at timestamptz not null, details jsonb not null);
`);
  await knex.raw(taskJson);
}

const taskJson = /* sql */ `
-- A task as the API shows it. One definition for reads, lists, events and audit diffs.
create function task_json(t tasks) returns json language sql stable as $$
  select json_build_object('task_id', t.task_id, 'title', t.title, 'project_id', t.project_id, 'team_id', t.team_id,
    'description', t.description, 'assigned_to', t.assigned_to, 'status', t.status, 'priority', t.priority,
    'due_date', t.due_date, 'tags', t.tags, 'estimated_hours', t.estimated_hours, 'actual_hours', t.actual_hours,
    'parent_task_id', t.parent_task_id, 'position', t.position, 'created_by', t.created_by,
    'created_at', to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(t.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'completed_at', to_char(t.completed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'is_archived', t.is_archived, 'forge_links', t.forge_links, 'version', t.version)
$$;
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
