-- An answer of the agent, for the user who waits for it on a page. Turns end by several statements: these triggers see all of them.
create function record_live_answer() returns trigger language plpgsql as $$
begin
  insert into live_changes (owner_id, entity_type, action, entity_id, actor_id, correlation_id)
    select new.user_id, 'agent_session', 'answer', new.session_id, new.user_id, new.correlation_id
    from agent_sessions s where s.session_id = new.session_id and s.kind = 'chat';
  return null;
end $$;
create trigger turn_answered_live after update of finished_at on agent_turns for each row
  when (old.finished_at is null and new.finished_at is not null) execute function record_live_answer();

-- The items that an answer names in quotation marks, in the order of the text: [{item_id, title}], as many as a list shows.
alter table agent_messages add column mentions jsonb check (jsonb_typeof(mentions) = 'array');
