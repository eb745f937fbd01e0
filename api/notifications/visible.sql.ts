/** Notifications n of person $1. What a team told is read by its members only, also afterwards. */
export const VISIBLE = /* sql */ `n.user_id = $1
      and (n.team_id is null or exists (select from memberships m where m.team_id = n.team_id and m.user_id = $1))`;

export const COLUMNS = /* sql */ `n.notification_id, n.kind, n.message, n.team_id, n.run_id, n.created_at, n.read_at,
      (select r.automation_name from automation_runs r where r.run_id = n.run_id) as automation_name`;
