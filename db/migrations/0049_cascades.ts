import type { Knex } from 'knex';

/** Events of what goes to the trash, or comes back, with something else. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(types);
}

const types = /* sql */ `
-- A row of the outbox of the types ".cascade_" holds a page of tasks. It starts no automation: ten thousand runs of one deletion help nobody.
insert into event_types (event_type, triggers) values
  ('project.restored', '{project.restored}'), ('task.cascade_deleted', '{}'), ('task.cascade_restored', '{}');

-- As before, and an endpoint that asks for "task.deleted" asks for "task.cascade_deleted" too.
create or replace function webhook_event_types(events text[]) returns text[] language sql stable as $$
  select coalesce(array_agg(e.event_type order by e.event_type), '{}') from event_types e
  where e.event_type not like all ('{forge.%,security.%,relation.%}') and exists (
    select from unnest(e.triggers || replace(e.event_type, '.cascade_', '.')) name, unnest(events) pattern
    where pattern in ('*', name, split_part(name, '.', 1) || '.*'))
$$;
-- The trigger of the table resolves the types of each endpoint again.
update webhooks set events = events where events && '{*,task.*,task.deleted,task.restored,project.*}';
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
