import type { Statement } from '../../db/statement.js';

/**
 * $1, $2 = places and task ids in pairs; $3, $4 = places and user ids; $5, $6 = places and project ids. A place is a team, or the user of a
 * personal automation, who sees what their teams have. Only what belongs to the place.
 */
export const namesOfTeamsStatement: Statement = {
  name: 'names_of_teams',
  text: /* sql */ `
    select w.place, t.task_id as id, t.title as name
    from unnest($1::uuid[], $2::text[]) as w (place, task_id) join tasks t using (task_id)
    where t.team_id = w.place or exists (select from memberships m where m.team_id = t.team_id and m.user_id = w.place)
    union all
    select w.place, u.user_id::text, u.display_name from unnest($3::uuid[], $4::uuid[]) as w (place, user_id) join users u using (user_id)
    where u.user_id = w.place or exists (select from memberships m where m.team_id = w.place and m.user_id = u.user_id)
    union all
    select w.place, p.project_id::text, p.name from unnest($5::uuid[], $6::uuid[]) as w (place, project_id) join projects p using (project_id)
    where p.team_id = w.place or exists (select from memberships m where m.team_id = p.team_id and m.user_id = w.place)`,
};

/** Maximum bytes of a value that a list shows. */
const MAX_VALUE_BYTES = 2_000;

/** $1 = run ids, $2 = paths in their events, in pairs. Of a larger value only the beginning: events can be large. */
export const quotedStatement: Statement = {
  name: 'quoted_from_events',
  text: /* sql */ `
    select w.run_id, w.path, q.size <= ${MAX_VALUE_BYTES} as is_whole,
      case when q.size <= ${MAX_VALUE_BYTES} then q.value else to_jsonb(left(q.value #>> '{}', ${MAX_VALUE_BYTES} / 4)) end as value
    from unnest($1::uuid[], $2::text[]) as w (run_id, path) join automation_runs r using (run_id)
    cross join lateral (select v.value, octet_length(v.value::text) as size from (select r.event #> string_to_array(w.path, '.') as value) v) q
    where q.value is not null`,
};
