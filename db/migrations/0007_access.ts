import type { Knex } from 'knex';

/** Expiry notices of tokens, team invitations, and deprovisioned users. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Days before expiry of the last notice to the owner; null: none yet.
alter table personal_access_tokens add column expiry_notice_days integer;
create index tokens_to_expire on personal_access_tokens (expires_at) where revoked_at is null;

-- The email that reports an impersonation afterwards (no foreign key: emails are deleted).
alter table sessions add column impersonation_mail_id uuid;
create index sessions_of_impersonator on sessions (impersonator_id) where ended_at is null;

create table invitations (
  invitation_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  email text not null check (email = lower(email)),
  role text not null check (role in ('admin', 'manager', 'member', 'guest')),
  invited_by uuid not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create unique index invitations_open on invitations (team_id, email) where accepted_at is null and revoked_at is null;
create index invitations_of_address on invitations (email) where accepted_at is null and revoked_at is null;

-- Deprovisioning of a user: requested once, driven by a workflow. "requested_by" is null for the operator's command.
create table deprovision_jobs (
  job_id uuid primary key default uuidv7(),
  user_id uuid not null unique references users,
  reassign_to uuid references users,
  reason text not null,
  requested_by uuid references users,
  correlation_id uuid not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded')),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index deprovision_jobs_open on deprovision_jobs (created_at) where finished_at is null;
-- Inserted with the step's changes, so that each step happens once, however often it is retried.
create table deprovision_steps (
  job_id uuid not null references deprovision_jobs,
  step text not null,
  team_id uuid references teams,
  result jsonb not null,
  done_at timestamptz not null default now(),
  unique nulls not distinct (job_id, step, team_id)
);
create index automations_of_person on automations (created_by) where deleted_at is null and is_active;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
