import { defineStatement } from '../../../db/statement.js';

/** Waits for the pass that writes notices, and holds the next one off until the commit: what it has read of the task may be undone by now. */
export const holdNoticesStatement = defineStatement({
  name: 'hold_notices',
  text: `select pg_advisory_xact_lock_shared(hashtextextended('personal notices', 0))`,
});

/**
 * $1 = user id, null for nobody, $2 = task id, $3 = whether its assignee is meant instead. Removes the unread notices that gave the task to the user, so that no email lists them
 * either, and the marks of this transaction for those who know already that the task is theirs. A notice that stands for others names the last of those instead; one that stands for the task counts
 * one less.
 */
export const withdrawAssignmentStatement = defineStatement({
  name: 'withdraw_assignment',
  text: /* sql */ `
    with mine as materialized (
      select n.notification_id, n.item_id, n.more, n.folded from notifications n
      where n.user_id = case when $3::boolean then (select t.assigned_to from tasks t where t.task_id = $2) else $1::uuid end and n.kind = 'assigned' and n.read_at is null
        and (n.item_id = $2 or $2 = any(n.folded)) for update
    ), unmarked as (
      delete from notice_marks k where k.kind in ('assigned', 'described') and k.entity_id = $2 and k.xid = pg_current_xact_id()
        and exists (select from notifications n where n.item_id = $2 and n.user_id = k.user_id and n.kind = 'assigned')
    ), reduced as (
      update notifications n set folded = array_remove(n.folded, $2),
        more = greatest(0, n.more - cardinality(n.folded) + cardinality(array_remove(n.folded, $2)))
      from mine m where n.notification_id = m.notification_id and m.item_id <> $2
    ), heirs as materialized (
      select m.notification_id, array_remove(m.folded, $2) as others, regexp_replace(left(t.title, 120), '\\s+', ' ', 'g') as title
      from mine m join tasks t on t.task_id = (array_remove(m.folded, $2))[cardinality(array_remove(m.folded, $2))] where m.item_id = $2
    ), promoted as (
      update notifications n set item_id = h.others[cardinality(h.others)], folded = h.others[:cardinality(h.others) - 1],
        more = greatest(0, n.more - 1), message = split_part(n.message, ' assigned you “', 1) || ' assigned you “' || h.title || '”'
      from heirs h where n.notification_id = h.notification_id
    )
    delete from notifications n using mine m
    where n.notification_id = m.notification_id and m.item_id = $2 and not exists (select from heirs h where h.notification_id = m.notification_id)`,
});
