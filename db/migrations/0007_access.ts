import type { Knex } from 'knex';

/** Notices of tokens that expire, invitations into teams, and people who leave the installation (decisions A9, B2, A11 and A12). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- How many days before its end the owner was last told; null: not yet.
alter table personal_access_tokens add column expiry_notice_days integer;
create index tokens_to_expire on personal_access_tokens (expires_at) where revoked_at is null;

-- The mail that tells somebody afterwards that an admin acted as them (no foreign key: mails are forgotten).
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

-- Somebody leaves for good: asked for once, carried by a workflow. "requested_by" is null for the operator's command.
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
-- Written with what the step did, so that each happens once, however often it is tried.
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
