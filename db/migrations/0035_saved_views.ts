import type { Knex } from 'knex';

/** Views that users save over tasks, projects and work items, for themselves or for a team. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create table saved_views (
  view_id uuid primary key default uuidv7(),
  owner_id uuid not null references users,
  team_id uuid references teams,
  name text not null check (char_length(name) between 1 and 100),
  is_shared boolean not null default false,
  is_default boolean not null default false,
  entity_type text not null check (entity_type in ('task', 'project', 'work_item')),
  -- As the API has them, at most a few kilobytes; checked again whenever they are read.
  filters jsonb not null check (octet_length(filters::text) <= 32768),
  sort jsonb not null check (jsonb_typeof(sort) = 'array'),
  group_by text,
  layout text not null check (layout in ('list', 'board')),
  columns text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (team_id is not null or not is_shared)
);
create index saved_views_of_owner on saved_views (owner_id, created_at, view_id);
create index shared_views_of_team on saved_views (team_id, created_at, view_id) where is_shared;
create index saved_views_of_team on saved_views (team_id) where team_id is not null;
-- The order of a view by due date, and its bounds. Tasks without a date belong to it: they come last.
create index tasks_by_due_date on tasks (team_id, (due_date collate "C"), created_at, task_id) where deleted_at is null;
create unique index default_view on saved_views (owner_id, entity_type) where is_default;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
