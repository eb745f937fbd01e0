-- A member whom an update of a project names is told of it, as of a comment that names them. A worker of an older version drops such marks.

alter table notice_marks drop constraint notice_marks_kind_check;
alter table notice_marks add constraint notice_marks_kind_check
  check (kind in ('assigned', 'mentioned', 'described', 'commented', 'status_changed', 'run_ended', 'project_updated', 'update_mentioned'));

create function members_named(team uuid, content text) returns setof uuid language sql stable as $$
  select u.user_id from mentioned_names(content) as n(name)
  join users u on lower(u.username) = n.name join memberships m on m.team_id = team and m.user_id = u.user_id
$$;

-- Who leads or created the project is told once: that the update names them.
create or replace function mark_project_update() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'project_updated', new.team_id, u.user_id, new.update_id::text from (
      select p.lead_id as user_id from projects p where p.project_id = new.project_id
      union select p.created_by from projects p where p.project_id = new.project_id
    ) u where u.user_id <> new.author_id and u.user_id not in (select members_named(new.team_id, new.content));
  return null;
end $$;

create function mark_update_mentions() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'update_mentioned', new.team_id, named, new.update_id::text from members_named(new.team_id, new.content) as named
    where named <> new.author_id
      and (tg_op = 'INSERT' or named not in (select members_named(old.team_id, old.content)));
  return null;
end $$;
create trigger project_update_names after insert on project_updates for each row when (new.content like '%@%') execute function mark_update_mentions();
create trigger project_update_names_more after update of content on project_updates for each row
  when (new.content like '%@%' and new.content is distinct from old.content) execute function mark_update_mentions();
