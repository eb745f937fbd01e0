-- Steps that a team names within the four statuses, which every client knows and which stay as they are (docs/decisions/work.md#stages).
create table stages (
  stage_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  name text not null check (char_length(name) between 1 and 40),
  -- Never changes, as the team never does: a task repeats both.
  status text not null check (status in ('todo', 'in_progress', 'in_review', 'done')),
  -- Below 0: before the tasks of the status that are in no stage; above: after them.
  position integer not null check (position <> 0),
  -- Target of the foreign key of a task.
  unique (stage_id, team_id, status)
);
create unique index stages_by_name on stages (team_id, lower(name));

alter table tasks add stage_id uuid;
select show_task_column('stage_id');
-- Not validated: every stored row is null, and reading them all would hold up writers.
alter table tasks add constraint stage_fits foreign key (stage_id, team_id, status) references stages (stage_id, team_id, status)
  on delete set null (stage_id) not valid;
alter table tasks add constraint stage_or_resolution check (stage_id is null or resolution is null) not valid;

-- Also for a process of the version before, which writes status and resolution and knows no stage: the later choice counts.
create function fit_stage() returns trigger language plpgsql as $$
begin
  if new.stage_id is distinct from old.stage_id then new.resolution := null;
  else new.stage_id := null;
  end if;
  return new;
end $$;
create trigger task_fits_stage before update on tasks for each row
  when (new.stage_id is not null and (new.status <> old.status or new.resolution is not null)) execute function fit_stage();
