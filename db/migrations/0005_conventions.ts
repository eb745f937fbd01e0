import type { Knex } from 'knex';

/** Idempotent writes, further filters of the activity feed, and permanent deletion from the trash. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- A client's key, claimed before the request runs. "address" is the SHA-256 of method and path, "fingerprint" that of query and body. No
-- status: the request is in progress, or its process died and the lease will expire.
create table idempotency_keys (
  user_id uuid not null references users,
  key text not null,
  address bytea not null,
  fingerprint bytea not null,
  request_id uuid not null,
  claimed_at timestamptz not null default now(),
  lease_until timestamptz not null,
  status integer,
  body text,
  primary key (user_id, key, address)
);
create index idempotency_keys_to_delete on idempotency_keys (claimed_at);

create index activity_of_project on activity (project_id, activity_id) where project_id is not null;
create index activity_of_entity on activity (entity_id, activity_id);

-- Purging leaves automations and runs behind: they keep the project's id without a foreign key.
alter table automations drop constraint automations_project_id_fkey;
alter table automation_runs drop constraint automation_runs_project_id_fkey;
create index automations_of_project on automations (project_id) where project_id is not null and deleted_at is null;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
