import { defineStatement } from '../../../db/statement.js';
import { LESS_THAN, MATCH_END, MATCH_START } from './rules.js';

/** What one search indexes before it answers: what single writes leave behind. A team with more marks is left to the worker. */
export const MAX_MARKS = 1_000;

/** Largest exact total. */
export const MAX_TOTAL = 1_000;
/** Newest documents of all teams together that are ranked beside the first hits of a common word, and at least this many per team. */
const NEWEST = 2_000;
const MIN_NEWEST_OF_TEAM = 40;
/** Of so many newest documents, this many match a very common word. It is read in the order of time, which is cheaper than all its hits. */
const PROBE = { documents: 100, hits: 15 };
/** Newest documents of all teams together that are read for it. */
const READ = 8_000;

/** Limits a search to one second. One plan serves all words: it is a chain of index look-ups, and planning would cost more than most searches. */
export const settingsStatement = defineStatement({
  name: 'search_settings',
  text: /* sql */ `select set_config('statement_timeout', '1000', true), set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('jit', 'off', true)`,
});

/**
 * Steps of every search. $1 = caller id, $2 = roles that may search, $3 = terms (jsonb), $4 = whether to search although teams have marks,
 * $5 = whether similar words count. `behind`: the caller's teams with marks; with any, nothing is searched. `is_deep`: others have more than a
 * search indexes first.
 */
const STEPS = /* sql */ `seats as materialized (
  select m.team_id from memberships m where m.user_id = $1 and m.role = any($2::text[])
), marked as materialized (
  select s.team_id, d.marks > ${MAX_MARKS} as is_deep from seats s
  cross join lateral (
    -- Ordered, so that the planner takes the index instead of all teams' marks.
    select count(*) as marks from (select from search_dirty d where d.team_id = s.team_id order by d.mark limit ${MAX_MARKS + 1}) first
  ) d
  where not $4::boolean and d.marks > 0
), query as materialized (
  -- Similar words come from titles of the caller's teams: a choice among all teams' words would tell which exist.
  select search_query($3::jsonb, case when $5::boolean then array(select s.team_id from seats s) else '{}' end) as given,
    case when $5::boolean then search_query($3::jsonb, '{}') end as exact
  where not exists (select from marked m where not m.is_deep)
)`;
/** Columns of every search. */
const STATE = /* sql */ `array(select m.team_id from marked m where not m.is_deep) as behind, exists (select from marked m where m.is_deep) as is_deep`;

/** Title, tags and text weigh 1, 0.4 and 0.1; what changed today counts twice as much as what is old; similar words count less. */
const SCORE = /* sql */ `ts_rank('{0.1,0.2,0.4,1.0}', n.tsv, q.given)
  * (1 + 1 / (1 + greatest(0, date_part('epoch', now() - n.touched_at)) / 2592000))
  * case when q.exact is null or n.tsv @@ q.exact then 1 else 0.3 end`;

/** Newest documents of one of `seats`: an equal part of so many, and at least this many. */
const newest = (of: number, least: number): string => /* sql */ `select w.* from search_documents w where w.team_id = s.team_id
    order by w.touched_at desc limit (select greatest(${of} / count(*), ${least}) from seats)`;

/**
 * Parameters of STEPS, $6 = maximum results, $7 = text to cut the snippet around literally, or null. Reads the caller's teams only, so another
 * team's items cost nothing. At most 1,001 hits are counted; beyond that the newest documents are ranked too, because the first hits are in
 * no order. Of a very common word only the newest hits are read. Each result is the live row, in a team of the caller now: an outdated document
 * shows nothing. One row without an item tells the total of an empty result.
 */
export const searchStatement = defineStatement({
  name: 'search_items',
  text: /* sql */ `
with ${STEPS}, probe as materialized (
  select count(*) >= ${PROBE.hits} as is_common from query q cross join seats s
  cross join lateral (${newest(PROBE.documents, 1)}) n where n.tsv @@ q.given
), recent as materialized (
  select d.* from query q cross join seats s cross join lateral (
    select n.item_id, ${SCORE} as score from (${newest(READ, 1)}) n
    where n.tsv @@ q.given limit (select ${MAX_TOTAL} / count(*) + 1 from seats)
  ) d where (select is_common from probe)
), hits as materialized (
  select * from recent where (select count(*) from recent) > ${MAX_TOTAL}
  union all
  (select d.* from query q cross join seats s cross join lateral (
    select n.item_id, ${SCORE} as score from search_documents n
    where n.team_id = s.team_id and n.tsv @@ q.given limit ${MAX_TOTAL + 1}
  ) d where (select count(*) from recent) <= ${MAX_TOTAL} limit ${MAX_TOTAL + 1})
), counted as materialized (
  select count(*)::int as total from hits
), best as materialized (
  select pool.item_id, pool.score from (
    select h.item_id, h.score from hits h
    union all
    select d.* from query q cross join seats s cross join lateral (
      select n.item_id, ${SCORE} as score from (${newest(NEWEST, MIN_NEWEST_OF_TEAM)}) n where n.tsv @@ q.given
    ) d where (select total from counted) > ${MAX_TOTAL} and (select count(*) from recent) <= ${MAX_TOTAL}
  ) pool order by pool.score desc, pool.item_id limit 4 * $6::int
)
select c.total, ${STATE}, r.* from counted c left join lateral (
  select live.item_type, live.item_id, live.title, live.status, live.project_id, project.name as project_name, live.team_id,
    team.name as team_name, b.score, live.updated_at,
    case when coalesce(strpos(lower(live.body), $7::text), 0) = 0
      then ts_headline('assent', translate(left(live.body, 4000), '<${MATCH_START}${MATCH_END}', '${LESS_THAN}'), q.given,
        'StartSel=${MATCH_START}, StopSel=${MATCH_END}, MaxWords=24, MinWords=10')
      else translate(substr(live.body, greatest(1, strpos(lower(live.body), $7::text) - 40), 240), '${MATCH_START}${MATCH_END}', '')
    end as snippet
  from query q cross join (select item_id, score from best group by item_id, score order by score desc, item_id limit 2 * $6::int) b
  cross join lateral (select * from search_source s where s.item_id = b.item_id and s.deleted_at is null limit 1) live
  cross join lateral (select t.name from teams t where t.team_id = live.team_id and t.deleted_at is null limit 1) team
  left join lateral (select p.name from projects p where p.project_id = live.project_id limit 1) project on true
  where (live.team_id in (select s.team_id from seats s)) is true
  order by b.score desc, b.item_id limit $6::int
) r on true`,
});

/** Parameters of STEPS, $6 = maximum ids. Ids of indexed items that match, in no order. */
export const searchIdsStatement = defineStatement({
  name: 'search_ids',
  text: /* sql */ `
    with ${STEPS}
    select ${STATE}, array(
      select d.item_id from query q cross join seats s cross join lateral (
        select n.item_id from search_documents n where n.team_id = s.team_id and n.tsv @@ q.given limit $6::int
      ) d limit $6::int) as ids`,
});
