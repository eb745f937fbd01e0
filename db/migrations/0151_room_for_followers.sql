-- Exactly a hundred follow a task, whatever comes at once: each insertion counts under the lock of its task. Who follows already takes nobody's place, and
-- neither does who has left the team.
create function limit_followers() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('followers of ' || new.task_id, 0));
  if (select count(*) from task_followers o join tasks t on t.task_id = o.task_id join memberships m on m.team_id = t.team_id and m.user_id = o.user_id
      where o.task_id = new.task_id and o.follows and o.user_id <> new.user_id) >= 100 then
    return null;
  end if;
  return new;
end $$;
create trigger follower_has_room before insert on task_followers for each row when (new.follows) execute function limit_followers();
