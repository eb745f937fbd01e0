import type { Knex } from 'knex';

/** Mail that waits to be sent (decision N3). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Written with what it tells about; the worker's dispatcher sends it. "sealed_data" fills the template: encrypted, because it may
-- hold a code, and gone once the mail was handed over. A mail that is of no use after a time is not sent after it.
create table mails (
  mail_id uuid primary key default uuidv7(),
  recipient text not null,
  template text not null,
  sealed_data bytea,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  useful_until timestamptz,
  last_error text,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  check (state <> 'sent' or sealed_data is null)
);
create index mails_due on mails (next_attempt_at) where state = 'queued';
create index mails_to_forget on mails (created_at);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
