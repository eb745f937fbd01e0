import type { Knex } from 'knex';

/**
 * One row for each gate and plan that ended, with how long it waited. Triggers write it in the transaction that ends it, whatever route that takes.
 * A gate has expired from its deadline on: a rejection after that adds nothing, and one that is asked for again counts once more when it ends.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create table decision_log (
  decision_id uuid not null default uuidv7(),
  kind text not null check (kind in ('gate', 'plan')),
  -- The team, or the person whose run or plan it is.
  team_id uuid,
  user_id uuid,
  -- An automation's id, or the source of a plan.
  source text not null,
  state text not null check (state in ('approved', 'rejected', 'expired', 'cancelled')),
  requested_at timestamptz not null,
  decided_by uuid,
  primary key (decision_id)
) partition by range (decision_id);
create index decision_log_of_team on decision_log (team_id, decision_id);
create index decision_log_of_user on decision_log (user_id, decision_id) where team_id is null;
select register_partitions('decision_log', 'month', ahead => 3, keep => 13);

create function log_gate(of_gate gates, how text) returns void language sql as $$
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by)
  select 'gate', r.team_id, r.creator_id, r.automation_id::text, how, of_gate.requested_at, of_gate.decided_by
  from automation_runs r where r.run_id = of_gate.run_id and not r.is_test
$$;
create function log_gate_end() returns trigger language plpgsql as $$
begin
  if new.lapsed_at is not null and old.lapsed_at is null and new.decision is null then perform log_gate(new, 'expired');
  elsif new.decision is not null and old.decision is null and old.lapsed_at is null then
    perform log_gate(new, case when new.decided_at > new.expires_at then 'expired' else new.decision end);
  end if;
  return null;
end $$;
create trigger gate_ends after update of decision, lapsed_at on gates for each row execute function log_gate_end();

create function log_cancelled_gate() returns trigger language plpgsql as $$
begin
  perform log_gate(g, 'cancelled') from gates g where g.run_id = new.run_id and g.decision is null and g.lapsed_at is null;
  return null;
end $$;
create trigger run_ends_at_gate after update of status on automation_runs for each row
  when (old.status = 'paused' and new.finished_at is not null) execute function log_cancelled_gate();

create function log_plan_end() returns trigger language plpgsql as $$
begin
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by)
  values ('plan', new.team_id, new.owner_id, new.source, case
    when new.status = 'applied' then 'approved' when new.status = 'expired' then 'expired'
    when new.status = 'discarded' and new.closed_reason = 'person' then 'rejected' else 'cancelled' end, new.staged_at, new.decided_by);
  return null;
end $$;
create trigger plan_ends after update of status on agent_plans for each row
  when (old.status = 'staged' and new.status <> 'staged') execute function log_plan_end();
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
