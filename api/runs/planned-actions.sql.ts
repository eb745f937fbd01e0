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

/**
 * $1 = run ids, $2 = a JSON list of paths in the event of each. Reads each event once. Of a large value only the beginning: events can be large.
 */
export const quotedStatement: Statement = {
  name: 'quoted_from_events',
  text: /* sql */ `
    select w.run_id, p.path, q.size <= ${MAX_VALUE_BYTES} as is_whole,
      case when q.size <= ${MAX_VALUE_BYTES} then q.value else to_jsonb(left(q.value #>> '{}', ${MAX_VALUE_BYTES} / 4)) end as value
    from unnest($1::uuid[], $2::jsonb[]) as w (run_id, paths)
    -- The concatenation copies the event into memory, from which every path is taken.
    cross join lateral (select r.event || '{}' as event from automation_runs r where r.run_id = w.run_id offset 0) e
    cross join lateral jsonb_array_elements_text(w.paths) as p (path)
    cross join lateral (
      select v.value, octet_length(v.value::text) as size from (select e.event #> string_to_array(p.path, '.') as value) v offset 0
    ) q
    where q.value is not null`,
};
