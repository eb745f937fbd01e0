-- Tasks of an import whose assignee, by email address, is no member yet: they get them when they join.

create table expected_assignees (
  task_id text primary key references tasks on delete cascade,
  team_id uuid not null references teams,
  email text not null check (email = lower(email) and length(email) <= 254),
  since timestamptz not null default now()
);
create index expected_assignees_of_address on expected_assignees (team_id, email);

-- The first change of the assignee decides, even one that is undone later.
create function forget_expected_assignee() returns trigger language plpgsql as $$
begin
  delete from expected_assignees where task_id = new.task_id;
  return null;
end $$;
create trigger task_assignee_decided after update of assigned_to on tasks for each row
  when (new.assigned_to is distinct from old.assigned_to) execute function forget_expected_assignee();

-- An invitation that is revoked or declined ends what was kept for its address.
create function forget_tasks_of_invitation() returns trigger language plpgsql as $$
begin
  delete from expected_assignees where team_id = new.team_id
    and email = coalesce(new.email, (select u.email from users u where u.user_id = new.user_id));
  return null;
end $$;
create trigger invitation_ended after update of revoked_at on invitations for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function forget_tasks_of_invitation();
