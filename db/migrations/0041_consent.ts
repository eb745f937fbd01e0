import type { Knex } from 'knex';

/** Invitations of users by id, whose address the inviting team does not learn, and limits of emails and teams. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table invitations alter column email drop not null, add column user_id uuid references users,
  add constraint invitations_invitee check (num_nonnulls(email, user_id) = 1);
create unique index invitations_open_of_user on invitations (team_id, user_id) where accepted_at is null and revoked_at is null;
create index invitations_to_user on invitations (user_id, created_at) where user_id is not null;

create index teams_created_by on teams (created_by) where deleted_at is null;

-- Emails that other people caused, by address and hour. "held" ones were not sent; one digest counts them.
create table mail_budgets (
  recipient text not null,
  hour timestamptz not null,
  sent integer not null default 0,
  held integer not null default 0,
  -- Emails sent by team id, and emails held by kind.
  sent_by_team jsonb not null default '{}',
  held_by_kind jsonb not null default '{}',
  digest_queued_at timestamptz,
  primary key (recipient, hour)
);
create index mail_budgets_held on mail_budgets (hour) where held > 0 and digest_queued_at is null;
create index mail_budgets_to_delete on mail_budgets (hour);`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
