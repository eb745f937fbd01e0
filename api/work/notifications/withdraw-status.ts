import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { holdNoticesStatement } from './withdraw-assignment.sql.js';

/**
 * $1 = task id, $2 = caller id. Removes what others have not read of the caller's change, and the marks of this transaction: only who has read of a change is told
 * that it was undone. A notice that stands for others stays.
 */
const statement = defineStatement({
  name: 'withdraw_status_change',
  text: /* sql */ `
    with withdrawn as (
      delete from notifications n where n.item_id = $1 and n.kind = 'status_changed' and n.actor_id = $2 and n.read_at is null and n.more = 0
      returning n.user_id
    )
    delete from notice_marks k where k.kind = 'status_changed' and k.entity_id = $1 and k.xid = pg_current_xact_id()
      and (k.user_id in (select user_id from withdrawn) or not exists (
        select from notifications n where n.item_id = $1 and n.user_id = k.user_id and n.kind = 'status_changed' and n.read_at is not null))`,
});

/** Withdraws what followers have not read about a task that the caller closed or reopened by mistake, in the transaction that undoes it. */
export async function withdrawStatus(ctx: Context, taskId: string): Promise<void> {
  await run(ctx.db, holdNoticesStatement, []);
  await run(ctx.db, statement, [taskId, requireUser(ctx)]);
}
