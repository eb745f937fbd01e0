import type { Statement } from '../../db/statement.js';

/** $1, $2 = team ids and task ids in pairs; $3, $4 = team ids and user ids in pairs. Only what belongs to that team. */
export const namesOfTeamsStatement: Statement = {
  name: 'names_of_teams',
  text: /* sql */ `
    select t.team_id, t.task_id as id, t.title as name
    from unnest($1::uuid[], $2::text[]) as w (team_id, task_id) join tasks t using (team_id, task_id)
    union all
    select m.team_id, m.user_id::text, u.display_name
    from unnest($3::uuid[], $4::uuid[]) as w (team_id, user_id) join memberships m using (team_id, user_id) join users u using (user_id)`,
};

/**
 * $1 = run ids, $2 = paths in their events, in pairs. Each value as text, cut: events can be large, and a list of runs needs only what
 * its actions quote.
 */
export const quotedStatement: Statement = {
  name: 'quoted_from_events',
  text: /* sql */ `
    select w.run_id, w.path, left(r.event #>> string_to_array(w.path, '.'), 400) as value
    from unnest($1::uuid[], $2::text[]) as w (run_id, path) join automation_runs r using (run_id)
    where r.event #> string_to_array(w.path, '.') is not null`,
};
