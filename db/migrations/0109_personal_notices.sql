-- Notices of what concerns one person: a task that they were given, a comment that names them or answers them, a run of their automation that failed.
-- The change leaves a mark in its own transaction, whatever statement writes it; the worker turns marks into notices, so that 500 tasks given at
-- once are four notices and not 500, and the request that gives them waits for none.

create table notice_marks (
  mark uuid primary key default uuidv7(),
  -- Of the change, whose row in live_changes says who made it.
  xid xid8 not null default pg_current_xact_id(),
  kind text not null check (kind in ('assigned', 'mentioned', 'commented', 'run_ended')),
  -- Null: of a personal automation.
  team_id uuid,
  user_id uuid not null,
  -- The task, the comment or the run.
  entity_id text not null
);

alter table notifications
  add column item_id text,
  -- The comment whose text the message quotes.
  add column comment_id uuid,
  add column actor_id uuid,
  -- What the reader has in common with others of its group, of which at most three stand unread; "more" counts those that the last one replaced.
  add column group_key text,
  add column more integer not null default 0,
  -- When an email lists it, unless it has been read.
  add column mail_at timestamptz;
create index notifications_of_group on notifications (user_id, group_key, notification_id desc) where read_at is null and group_key is not null;
create index notifications_of_item on notifications (item_id) where item_id is not null;
create index notifications_to_mail on notifications (mail_at) where mail_at is not null;

-- How a person gets an email of notices that they have not read: ten minutes later, in the next morning, or never.
alter table users add column notice_mail text not null default 'soon' check (notice_mail in ('soon', 'daily', 'never'));

create function mark_assignment() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id) values ('assigned', new.team_id, new.assigned_to, new.task_id);
  return null;
end $$;
create trigger task_made_assigned after insert on tasks for each row when (new.assigned_to is not null) execute function mark_assignment();
create trigger task_assigned after update of assigned_to on tasks for each row
  when (new.assigned_to is not null and new.assigned_to is distinct from old.assigned_to) execute function mark_assignment();

-- Whom a comment concerns: those that it names, the assignee and the creator of the task, and the author of the comment that it answers.
create function mark_comment() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select distinct on (p.user_id) p.kind, new.team_id, p.user_id, new.comment_id::text from (
      select 'mentioned' as kind, m.user_id, 1 as place from unnest(new.mentions) as m(user_id)
      union all select 'commented', t.assigned_to, 2 from tasks t where t.task_id = new.task_id
      union all select 'commented', t.created_by, 2 from tasks t where t.task_id = new.task_id
      union all select 'commented', c.author_id, 2 from comments c where c.comment_id = new.parent_comment_id
    ) p where p.user_id <> new.author_id or p.kind = 'mentioned' order by p.user_id, p.place;
  return null;
end $$;
create trigger comment_made after insert on comments for each row execute function mark_comment();

create function mark_new_mentions() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'mentioned', new.team_id, m.user_id, new.comment_id::text from unnest(new.mentions) as m(user_id) where m.user_id <> all(old.mentions);
  return null;
end $$;
create trigger comment_mentions after update of mentions on comments for each row when (new.mentions <> old.mentions)
  execute function mark_new_mentions();

create function mark_run_end() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id) values ('run_ended', new.team_id, new.creator_id, new.run_id);
  return null;
end $$;
create trigger run_ends_badly after update of status on automation_runs for each row
  when (old.status <> new.status and not new.is_test and (new.status in ('failed', 'expired') or new.skip_reason = 'rejected'))
  execute function mark_run_end();
