import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { MarkNotifications } from './schema.js';
import { VISIBLE } from './visible.sql.js';

/** $1 = caller id, $2 = newest seen id or null, $3 = run id or null, $4 = id of a change request or null, $5 = id of a task or null, $6 = id of a plan or null. */
const statement = defineStatement({
  name: 'mark_notifications',
  text: /* sql */ `
    with marked as (
      update notifications n set read_at = now()
      where ${VISIBLE} and n.read_at is null and ($2::uuid is null or n.notification_id <= $2) and ($3::uuid is null or n.run_id = $3)
        and ($4::uuid is null or n.request_id = $4) and ($5::text is null or n.item_id = $5)
        and ($6::uuid is null or n.action_id = $6)
      returning 1
    )
    select count(*)::int as marked from marked`,
});

/** Marks the caller's notifications as read: up to the newest seen one, or those of one run, change request, task or plan. Returns how many were unread. */
export async function markNotifications(
  ctx: Context,
  { up_to, run_id, request_id, item_id, action_id }: MarkNotifications & { action_id?: string | undefined },
): Promise<{ marked: number }> {
  const [row] = await run<{ marked: number }>(ctx.db, statement, [
    requireUser(ctx),
    up_to ?? null,
    run_id ?? null,
    request_id ?? null,
    item_id ?? null,
    action_id ?? null,
  ]);
  return { marked: row?.marked ?? 0 };
}
