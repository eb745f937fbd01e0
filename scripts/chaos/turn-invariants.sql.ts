import type { Invariant } from './invariant.js';

/** Conditions on conversations with the agent that hold whenever the system is idle. */
export const turnInvariants: readonly Invariant[] = [
  {
    name: 'turns_end',
    words: 'No message to the agent waits for more than five minutes',
    sql: /* sql */ `
      select format('message %s is %s since %s', message_id, state, created_at) as violation from agent_turns
      where finished_at is null and created_at < clock_timestamp() - interval '5 minutes'`,
  },
  {
    name: 'turns_answered_once',
    words: 'A message has an answer exactly if its turn has ended, and a plan belongs to one answer',
    sql: /* sql */ `
      select format('message %s is %s with %s answers', t.message_id, t.state, count(a.message_id)) as violation
      from agent_turns t left join agent_messages a on a.answers = t.message_id
      group by t.message_id having count(a.message_id) <> (t.finished_at is not null)::int
      union all
      select format('plan %s is in %s answers', action_id, count(*)) from agent_messages where action_id is not null
      group by action_id having count(*) > 1`,
  },
  {
    name: 'turns_in_order',
    words: 'Messages of one session are answered in the order in which they came',
    sql: /* sql */ `
      select format('message %s was answered before %s', later.message_id, earlier.message_id) as violation
      from agent_messages earlier
      join agent_messages later on later.session_id = earlier.session_id and later.position > earlier.position and later.role = 'user'
      join agent_messages a on a.answers = later.message_id
      left join agent_messages b on b.answers = earlier.message_id
      where earlier.role = 'user' and exists (select from agent_turns t where t.message_id = earlier.message_id)
        and (b.position is null or b.position > a.position)`,
  },
  {
    name: 'messages_counted',
    words: 'Every message that is there was counted for the team that pays',
    sql: /* sql */ `
      select format('team %s, %s: %s messages, %s counted', t.team_id, month, count(*), coalesce(max(u.messages), 0)) as violation
      from agent_turns t cross join lateral (select date_trunc('month', t.created_at at time zone 'utc')::date as month) m
      left join agent_usage u using (team_id, month) where t.team_id is not null
      group by t.team_id, month having count(*) > coalesce(max(u.messages), 0)`,
  },
];
