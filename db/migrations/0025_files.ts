import type { Knex } from 'knex';

/** Uploaded bytes of work items of the type `file`, and what each team stores. The bytes are objects in a store outside PostgreSQL. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables);
}

const tables = /* sql */ `
-- A file item without a row here has no bytes. No cascade: a purge that forgets the row, and with it the team's sum, fails.
create table files (
  item_id text primary key references items,
  size bigint not null check (size >= 0),
  -- As the client declared it; nothing trusts it.
  content_type text not null,
  -- From the first bytes; null if unknown.
  sniffed_type text,
  -- Lower-case hexadecimal.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Random and never reused, so an object without a row can be removed.
  object_key text not null unique
);

-- Sum of the sizes of a team's files, those in the trash included.
create table team_storage (
  team_id uuid primary key references teams,
  bytes bigint not null default 0 check (bytes >= 0),
  -- Null for the installation's default.
  quota bigint check (quota >= 0)
);
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
