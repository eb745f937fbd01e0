-- What members say of a project, each with its health. Processes of the version before know nothing of it; their purge of a project takes its updates along.
create table project_updates (
  update_id uuid primary key default uuidv7(),
  project_id uuid not null,
  team_id uuid not null,
  health text not null check (health in ('on_track', 'at_risk', 'off_track')),
  content text not null,
  author_id uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  edited boolean not null default false,
  foreign key (project_id, team_id) references projects (project_id, team_id) on delete cascade
);
create index updates_of_project on project_updates (project_id, update_id desc);

-- Those of the newest update; null without one.
alter table projects add column health text, add column health_at timestamptz;

alter table notice_marks drop constraint notice_marks_kind_check;
alter table notice_marks add constraint notice_marks_kind_check
  check (kind in ('assigned', 'mentioned', 'described', 'commented', 'status_changed', 'run_ended', 'project_updated'));

-- Whom an update concerns: who leads the project, and who created it.
create function mark_project_update() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'project_updated', new.team_id, u.user_id, new.update_id::text from (
      select p.lead_id as user_id from projects p where p.project_id = new.project_id
      union select p.created_by from projects p where p.project_id = new.project_id
    ) u where u.user_id <> new.author_id;
  return null;
end $$;
create trigger project_update_made after insert on project_updates for each row execute function mark_project_update();
