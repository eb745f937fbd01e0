import type { Knex } from 'knex';

/** Edges of the work graph. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- "relation_type", "source_id" and "target_id" are as given; "kind", "from_id" and "to_id" are canonical, so that the same edge in other
-- words is the same row. Edges of an item in the trash stay and are hidden; purging the item deletes them.
create table relations (
  relation_id uuid primary key default uuidv7(),
  relation_type text not null check (relation_type in ('parent_child', 'blocking', 'blocked_by', 'blocks', 'related_to', 'attached_to',
    'belongs_to', 'caused_by', 'recurrence_of')),
  source_id text not null references item_keys on delete cascade,
  target_id text not null references item_keys on delete cascade,
  kind text not null check (kind in ('contains', 'blocks', 'related', 'attached', 'caused', 'recurs')),
  from_id text not null,
  to_id text not null,
  -- Items never change their team, so a walk along edges needs no look-up of items.
  from_team_id uuid not null references teams,
  to_team_id uuid not null references teams,
  -- A column, so that the planner knows how rare it is.
  crosses_teams boolean not null generated always as (from_team_id <> to_team_id) stored,
  -- The team of the source when the edge was created: its members count as the item's own, others as strangers.
  team_id uuid not null references teams,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  check (from_id <> to_id),
  check ((from_id, to_id) in ((source_id, target_id), (target_id, source_id))),
  unique (kind, from_id, to_id)
);
create index relations_from on relations (from_id, kind);
create index relations_to on relations (to_id, kind);
create index relations_of_source on relations (source_id);
create index relations_of_target on relations (target_id);
create index relations_of_team on relations (team_id);
-- Edges that may lead a walk out of a team.
create index relations_out_of_team on relations (from_team_id, kind) where crosses_teams;
create index relations_into_team on relations (to_team_id, kind) where crosses_teams;

-- Every edge as each of its two ends sees it, stored or following from a task's fields. Read it by item_id. Ends may be in the trash, except
-- a subtask or a later occurrence.
create view item_edges as
  select r.from_id as item_id, 'from' as at_end, r.to_id as far_id, r.kind, r.relation_id::text as relation_id, r.relation_type,
    r.source_id, r.target_id, r.created_by, r.created_at from relations r
  union all
  select r.to_id, 'to', r.from_id, r.kind, r.relation_id::text, r.relation_type, r.source_id, r.target_id, r.created_by, r.created_at
  from relations r
  union all
  select t.parent_task_id, 'from', t.task_id, 'contains', 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, t.created_by,
    t.created_at from tasks t where t.parent_task_id is not null and t.deleted_at is null
  union all
  select t.task_id, 'to', t.parent_task_id, 'contains', 'parent:' || t.task_id, 'parent_child', t.parent_task_id, t.task_id, t.created_by,
    t.created_at from tasks t where t.parent_task_id is not null
  union all
  select t.recurrence_of, 'to', t.task_id, 'recurs', 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, t.created_by,
    t.created_at from tasks t where t.recurrence_of is not null and t.deleted_at is null
  union all
  select t.task_id, 'from', t.recurrence_of, 'recurs', 'recurrence:' || t.task_id, 'recurrence_of', t.task_id, t.recurrence_of, t.created_by,
    t.created_at from tasks t where t.recurrence_of is not null;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
