import { inBatches } from '../../../../db/in-batches.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';

const BATCH = 500;

/**
 * $1 = days. A plan's text holds titles and words of items that may have been purged since, so it is not kept forever.
 * The same goes for what an agent said with it, unless that is part of a conversation.
 */
const statement = defineStatement({
  name: 'delete_old_plans',
  text: /* sql */ `
    with deleted as (
      delete from agent_plans where action_id = any(array(
        select action_id from agent_plans
        where status <> 'staged' and coalesce(decided_at, expires_at) < now() - make_interval(days => $1)
        order by coalesce(decided_at, expires_at) limit ${BATCH} for update skip locked
      )) returning action_id
    ), notes as (
      delete from agent_messages m using deleted d, agent_sessions s
      where m.action_id = d.action_id and s.session_id = m.session_id and s.kind <> 'chat'
    ) select count(*)::int as plans from deleted`,
});

/**
 * Deletes plans that ended RUN_HISTORY_DAYS ago, in batches, each with its own commit; the audit entries of their decisions remain. Safe to
 * repeat. Returns their number.
 */
export function deleteOldPlans({ db, config }: Pick<Services, 'db' | 'config'>): Promise<number> {
  return inBatches(BATCH, async () => (await run<{ plans: number }>(db, statement, [config.RUN_HISTORY_DAYS]))[0]?.plans ?? 0);
}
