import { defineStatement } from '../../../db/statement.js';
import { wakeRunOfTurn } from '../run-steps/step-of-turn.sql.js';

/** Of a session s. */
const SUMMARY = /* sql */ `s.session_id, s.title, s.kind, s.created_at, s.updated_at,
    (select count(*)::int from agent_messages m where m.session_id = s.session_id) as message_count,
    (select p.action_id from agent_plans p where p.session_id = s.session_id and p.status = 'staged' and p.expires_at > now()
      order by p.staged_at desc, p.action_id desc limit 1) as pending_action_id`;

/** $1 = caller id. Newest first. */
export const listSessionsStatement = defineStatement({
  name: 'list_agent_sessions',
  text: /* sql */ `
    select ${SUMMARY} from agent_sessions s
    where s.owner_id = $1 and s.deleted_at is null order by s.created_at desc, s.session_id desc`,
});

/** $1 = session id, $2 = caller id, $3 = roles that may read a team's session. */
export const readSessionStatement = defineStatement({
  name: 'read_agent_session',
  text: /* sql */ `
    select ${SUMMARY}, coalesce((select json_agg(json_build_object('message_id', m.message_id, 'role', m.role, 'content', m.content,
        'action_id', m.action_id, 'created_at', m.created_at) order by m.position)
      from agent_messages m where m.session_id = s.session_id), '[]') as messages
    from agent_sessions s
    where s.session_id = $1 and s.deleted_at is null
      and (s.owner_id = $2 or exists (select from memberships m where m.team_id = s.team_id and m.user_id = $2 and m.role = any($3)))`,
});

/**
 * $1 = session id, $2 = user id. Every link with its item as it is now and the user's role in its team; the item's columns are null if it
 * is in the trash or gone. An idea is a note of that kind.
 */
export const readLinksStatement = defineStatement({
  name: 'read_agent_links',
  text: /* sql */ `
    select l.item_type, l.item_id, l.linked_at, p.title, p.status, p.team_id, p.project_id, m.role as seat
    from agent_links l
    left join lateral (
      select * from item_place p where p.item_id = l.item_id and p.deleted_at is null
        and p.item_type = case l.item_type when 'idea' then 'note' else l.item_type end limit 1
    ) p on true
    left join memberships m on m.team_id = p.team_id and m.user_id = $2
    where l.session_id = $1 order by l.linked_at, l.item_type, l.item_id`,
});

/** $1 = item id, $2 = item type, $3 = user id. The live item of a type, with the user's role in its team; `is_idea` for notes. */
export const linkableItemStatement = defineStatement({
  name: 'linkable_item',
  text: /* sql */ `
    select p.item_id, p.title, p.team_id, p.project_id,
      exists (select from items i where i.item_id = $1 and i.kind = 'idea') as is_idea,
      (select m.role from memberships m where m.team_id = p.team_id and m.user_id = $3) as seat
    from item_place p
    where p.item_id = $1 and p.deleted_at is null and p.item_type = case $2 when 'idea' then 'note' else $2 end`,
});

/**
 * SQL: the steps of a statement that wake, for each turn that ends in its step `ended`, the next message of the same team that waits for a
 * place at the model. It is the oldest that no earlier message of its own session holds back, a person's before one of an automation.
 */
export const wakeNextOfTeam = (ended: string): string => /* sql */ `next_of_team as (
  select distinct n.message_id, n.incarnation, n.correlation_id from (select team_id from ${ended} where team_id is not null) e cross join lateral (
    select o.message_id, o.incarnation, o.correlation_id from agent_turns o join agent_messages own using (message_id)
    where o.team_id = e.team_id and o.finished_at is null and o.state = 'waiting' and o.claimed_by is not null
      and o.session_id not in (select session_id from ${ended})
      and not exists (select from agent_turns other join agent_messages earlier using (message_id)
        where other.session_id = o.session_id and other.finished_at is null and earlier.position < own.position)
    order by exists (select from agent_sessions s where s.session_id = o.session_id and s.kind = 'automation'), o.created_at limit 1) n
), woken_of_team as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'turn.wake', message_id::text, jsonb_build_object('message_id', message_id, 'incarnation', incarnation), correlation_id from next_of_team
)`;

/**
 * $1 = session id. Stops the open turns of a session: each gets an answer that says so, and its workflow is woken, as is the run whose step
 * asked. Wakes the next of the team.
 * $2 = the answer's text.
 */
export const stopTurnsStatement = defineStatement({
  name: 'stop_agent_turns',
  text: /* sql */ `
with stopped as (
  update agent_turns set state = 'cancelled', error_code = 'cancelled', finished_at = clock_timestamp()
  where session_id = $1 and finished_at is null returning message_id, session_id, team_id, incarnation, correlation_id
), answered as (
  insert into agent_messages (session_id, role, content, answers)
  select s.session_id, 'assistant', $2, s.message_id from stopped s join agent_messages m using (message_id) order by m.position
), woken as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'turn.wake', message_id::text, jsonb_build_object('message_id', message_id, 'incarnation', incarnation), correlation_id from stopped
), ${wakeNextOfTeam('stopped')}, run_woken as (${wakeRunOfTurn('stopped')}
)
select message_id from stopped`,
});
