import { defineStatement } from '../../../db/statement.js';
import { stepOfTurn } from '../run-steps/step-of-turn.sql.js';

/** $1 = leased rows of the outbox. Their turns, open or ended, with what operators see. */
export const turnDispatchesStatement = defineStatement({
  name: 'turn_dispatches',
  text: /* sql */ `
    select o.outbox_id, o.kind, o.correlation_id, (o.payload->>'incarnation')::int as started_as, t.message_id, t.session_id, t.user_id,
      t.team_id, t.provider, t.incarnation, t.claimed_by, t.finished_at is not null as is_ended,
      s.kind as session_kind, s.subject_key, ${stepOfTurn('t')}
    from outbox o join agent_turns t on t.message_id = (o.payload->>'message_id')::uuid join agent_sessions s using (session_id)
    where o.outbox_id = any($1::bigint[])`,
});

/** $1 = message id after which to continue, $2 = row limit. Open turns that have no start in the outbox. */
export const openTurnsStatement = defineStatement({
  name: 'open_agent_turns',
  text: /* sql */ `
    select t.message_id, t.incarnation, t.claimed_by from agent_turns t
    where t.finished_at is null and t.message_id > $1
      and not exists (select from outbox o where o.kind = 'turn.start' and o.subject = t.message_id::text)
    order by t.message_id limit $2`,
});

/**
 * $1 = message id, $2 = expected incarnation. Restarts an open turn that no execution owns, under the next incarnation; the old execution can
 * no longer claim it. It does not become `queued` again: a worker had begun, so that it is not withdrawn.
 */
export const restartTurnStatement = defineStatement({
  name: 'restart_agent_turn',
  text: /* sql */ `
with restarted as (
  update agent_turns set incarnation = incarnation + 1, claimed_by = null, state = 'waiting'
  where message_id = $1 and incarnation = $2 and finished_at is null returning message_id, incarnation, correlation_id
)
insert into outbox (kind, subject, payload, correlation_id)
select 'turn.start', message_id::text, jsonb_build_object('message_id', message_id, 'incarnation', incarnation), correlation_id from restarted
returning outbox_id`,
});
