-- A member whom the description of a task names is told of it, as of a comment that names them. A worker of an older version drops such marks.

alter table notice_marks drop constraint notice_marks_kind_check;
alter table notice_marks add constraint notice_marks_kind_check check (kind in ('assigned', 'mentioned', 'described', 'commented', 'run_ended'));

-- The names that a text mentions, in lower case: the first fifty. As in the pages: a mention starts a word, and ends before punctuation.
create function mentioned_names(content text) returns setof text language sql immutable parallel safe as $$
  select lower(r.found[2]) from regexp_matches(content, '(^|[^[:alnum:]._+@-])@([[:alnum:]._+-]*[[:alnum:]_])', 'g') with ordinality as r(found, place)
  group by lower(r.found[2]) order by min(r.place) limit 50
$$;

create function mark_described() returns trigger language plpgsql as $$
begin
  insert into notice_marks (kind, team_id, user_id, entity_id)
    select 'described', new.team_id, u.user_id, new.task_id from mentioned_names(new.description) as n(name)
    join users u on lower(u.username) = n.name join memberships m on m.team_id = new.team_id and m.user_id = u.user_id
    where tg_op = 'INSERT' or n.name not in (select mentioned_names(coalesce(old.description, '')));
  return null;
end $$;
create trigger task_made_with_mentions after insert on tasks for each row when (new.description like '%@%') execute function mark_described();
create trigger task_mentions after update of description on tasks for each row
  when (new.description like '%@%' and new.description is distinct from old.description) execute function mark_described();
