import { defineStatement } from '../../../../db/statement.js';

/** Items with the words of one name that are read. Beyond it the name means too many. */
const MAX_OF_NAME = 100;
/** Changed items that the index does not have yet, of all teams together. */
const MAX_MARKED = 500;

/** Limits the look-up of names to half a second, and returns the limit before. */
export const lookUpSettingsStatement = defineStatement({
  name: 'beyond_settings',
  text: /* sql */ `select current_setting('statement_timeout') as timeout, set_config('statement_timeout', '500', true)`,
});

/** $1 = statement timeout. */
export const endLookUpStatement = defineStatement({
  name: 'beyond_settings_end',
  text: `select set_config('statement_timeout', $1, true)`,
});

/**
 * $1 = user id, $2 = roles that may let the agent read, $3 = team ids, $4 = queries of the text search, one a name, $5 = ids,
 * $6 = keys of teams, $7 = numbers of tasks there, one a key. Live tasks and projects
 * in these teams: those whose titles match a query, by the index of the search; those with one of the ids or numbers; and those that have changed since they
 * were indexed. `names`: places of the queries with more hits than are read. At least one row.
 */
export const findBeyondStatement = defineStatement({
  name: 'find_beyond',
  text: /* sql */ `
with places as materialized (
  select m.team_id from memberships m where m.user_id = $1 and m.role = any($2::text[]) and m.team_id = any($3::uuid[])
), marked as materialized (
  select d.item_id from places p cross join lateral (
    select d.item_id from search_dirty d where d.team_id = p.team_id order by d.mark limit ${MAX_MARKED + 1}
  ) d limit ${MAX_MARKED + 1}
), hits as materialized (
  select w.place, h.item_id from unnest($4::text[]) with ordinality as w(query, place) cross join places p cross join lateral (
    select n.item_id from search_documents n where n.team_id = p.team_id and n.tsv @@ to_tsquery('assent', w.query) limit ${MAX_OF_NAME + 1}
  ) h
), wanted as materialized (
  select h.item_id from hits h union select m.item_id from marked m union select given.id from unnest($5::text[]) as given(id)
  union select t.task_id from unnest($6::text[], $7::int[]) as given(key, number) cross join places p
    join teams e on e.team_id = p.team_id and e.key = given.key join tasks t on t.team_id = p.team_id and t.number = given.number
)
select (select count(*) > ${MAX_MARKED} from marked) as is_indexing,
  array(select h.place::int from hits h group by h.place having count(*) > ${MAX_OF_NAME}) as cut, f.*
from (select) as one left join lateral (
  select i.item_type, i.item_id, i.title, i.status, i.team_id, i.project_id, p.name as project_title,
    (select e.key || '-' || t.number from tasks t join teams e using (team_id) where t.task_id = i.item_id) as key
  from wanted w cross join lateral (
    select * from item_place i where i.item_id = w.item_id and i.deleted_at is null and i.item_type in ('task', 'project') limit 1
  ) i left join projects p on p.project_id = i.project_id and i.item_type = 'task'
  where i.team_id in (select p.team_id from places p)
    and not exists (select from tasks t where t.task_id = i.item_id and t.is_archived)
) f on true`,
});

/**
 * $1 = user id, $2 = roles that may let the agent read, $3 = project ids, $4 = row limit. The newest live tasks of projects.
 */
export const coveredTasksStatement = defineStatement({
  name: 'covered_tasks',
  text: /* sql */ `
select 'task' as item_type, t.task_id as item_id, t.title, t.status, t.team_id, t.project_id::text as project_id, p.name as project_title
from unnest($3::uuid[]) as given(project_id) join projects p on p.project_id = given.project_id
join memberships m on m.team_id = p.team_id and m.user_id = $1 and m.role = any($2::text[])
cross join lateral (
  select * from tasks t where t.project_id = p.project_id and t.deleted_at is null and not t.is_archived
  order by t.created_at desc, t.task_id desc limit $4
) t order by t.created_at, t.task_id limit $4`,
});
