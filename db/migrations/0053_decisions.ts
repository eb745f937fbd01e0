import type { Knex } from 'knex';

/**
 * What a gate releases, as people see it and as the run performs it. `staged` is null until it is staged: gates that an older version of the
 * service opened are staged when somebody first looks at them. `staged_tried`: the text holds what each action would change. A comment of a
 * decision; and decisions that only a signed-in person makes, no token: at one gate, or at all gates and plans of a team.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table gates add column staged text, add column staged_hash text, add column staged_tried boolean not null default false,
  add column signed_in boolean not null default false,
  add constraint gates_staged_hash check ((staged is null) = (staged_hash is null));
alter table gate_approvals add column comment text;
alter table agent_plans add column comment text;
alter table teams add column decisions_signed_in boolean not null default false;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
