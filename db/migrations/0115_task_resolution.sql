-- Why a task is done that nobody completed: canceled, or a duplicate; null = completed, or not done. An addition, so that the four statuses keep their
-- meaning for whoever knows only them.
alter table tasks add resolution text;
select show_task_column('resolution');
-- Not validated: every stored row is null, and reading them all would hold up writers.
alter table tasks add constraint resolution_of_done
  check (resolution is null or (status = 'done' and resolution in ('canceled', 'duplicate'))) not valid;

-- Also for a process of the version before, which writes the status and knows no resolution.
create function clear_resolution() returns trigger language plpgsql as $$
begin
  new.resolution := null;
  return new;
end $$;
create trigger reopened_has_no_resolution before update on tasks for each row
  when (new.resolution is not null and new.status <> 'done') execute function clear_resolution();
