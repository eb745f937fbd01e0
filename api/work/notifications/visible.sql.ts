/** Condition for notifications `n` visible to user $1. A team's notifications are hidden from former members. */
export const VISIBLE = /* sql */ `n.user_id = $1
      and (n.team_id is null or exists (select from memberships m where m.team_id = n.team_id and m.user_id = $1))`;

/** SQL: whether the caller's token may read what a notification quotes: titles and comments of tasks. `mayReadTasks`: the parameter that says so. */
export const mayShow = (mayReadTasks: `$${number}`): string => `(${mayReadTasks}::boolean or n.item_id is null)`;

/**
 * State of the notification's gate. A run may have several gates. A request is stored in the transaction that opens its gate, and a
 * reminder precedes the next gate, so the last gate opened before the notification is the right one.
 */
const GATE = /* sql */ `
      (select json_build_object('state', case when g.decision is not null then g.decision
          when r.status = 'expired' or g.expires_at <= now() then 'lapsed' when r.finished_at is not null then 'closed' else 'pending' end,
        'decided_by', g.decided_by, 'decided_at', g.decided_at)
      from gates g join automation_runs r using (run_id)
      where g.run_id = n.run_id and n.kind in ('approval_requested', 'approval_reminder') and g.requested_at <= n.created_at
      order by g.requested_at desc, g.gate_index desc limit 1)`;

export const COLUMNS = /* sql */ `n.notification_id, n.kind, n.message, n.team_id, n.run_id, n.action_id, n.request_id, n.item_id, n.comment_id, n.actor_id as triggered_by, n.more, n.created_at, n.read_at,
      (select r.automation_name from automation_runs r where r.run_id = n.run_id) as automation_name, ${GATE} as gate`;
