-- Who hears of a task: its creator, its assignee, and those who follow it. A worker of the version before drops the new marks.

create table task_followers (
  task_id text not null references tasks on delete cascade,
  user_id uuid not null references users,
  -- False: the user wants to hear nothing of it, also as its creator or assignee.
  follows boolean not null,
  since timestamptz not null default now(),
  primary key (task_id, user_id)
);

-- Who followed and has left the team counts for nothing. A comment and a closing write a mark for each; at most 100 may follow, and requests at the same
-- time may pass that by a few.
create function task_audience(task text, team uuid, creator uuid, assignee uuid) returns setof uuid language sql stable as $$
  select u.user_id from (values (creator), (assignee)) as u(user_id)
    where u.user_id is not null and not exists (select from task_followers f where f.task_id = task and f.user_id = u.user_id and not f.follows)
  union
  (select f.user_id from task_followers f join memberships m on m.team_id = team and m.user_id = f.user_id
    where f.task_id = task and f.follows order by f.since, f.user_id limit 150)
$$;

alter table notice_marks drop constraint notice_marks_kind_check;
alter table notice_marks add constraint notice_marks_kind_check
  check (kind in ('assigned', 'mentioned', 'described', 'commented', 'status_changed', 'run_ended'));

-- Whom a comment concerns: those that it names, who hears of the task, and the author of the comment that it answers, unless they want to hear nothing.
create or replace function mark_comment() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select distinct on (p.user_id) p.kind, new.team_id, p.user_id, new.comment_id::text from (
      select 'mentioned' as kind, m.user_id, 1 as place from unnest(new.mentions) as m(user_id)
      union all select 'commented', h.user_id, 2 from tasks t cross join task_audience(t.task_id, t.team_id, t.created_by, t.assigned_to) as h(user_id)
        where t.task_id = new.task_id
      union all select 'commented', c.author_id, 2 from comments c where c.comment_id = new.parent_comment_id
        and not exists (select from task_followers f where f.task_id = new.task_id and f.user_id = c.author_id and not f.follows)
    ) p where p.user_id <> new.author_id or p.kind = 'mentioned' order by p.user_id, p.place;
  return null;
end $$;

create index marks_of_status on notice_marks (entity_id) where kind = 'status_changed';

-- Only the last change is told. Without the deletion one user who closes and reopens a task all the time would fill the queue of all teams.
create function mark_status() returns trigger language plpgsql as $$
begin
  delete from notice_marks where mark = any(array(
    select mark from notice_marks where kind = 'status_changed' and entity_id = new.task_id for update skip locked
  ));
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'status_changed', new.team_id, h.user_id, new.task_id from task_audience(new.task_id, new.team_id, new.created_by, new.assigned_to) as h(user_id);
  return null;
end $$;
create trigger task_closed_or_reopened after update of status on tasks for each row
  when ((old.status = 'done') <> (new.status = 'done')) execute function mark_status();
