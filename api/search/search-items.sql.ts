import type { Statement } from '../../db/statement.js';
import { LESS_THAN, MATCH_END, MATCH_START } from './rules.js';

/** Largest exact total. */
export const MAX_TOTAL = 1_000;
/** Newest documents of all teams together that are ranked beside the first hits of a common word, and at least this many per team. */
const NEWEST = 2_000;
const MIN_NEWEST_OF_TEAM = 40;

/**
 * Prepares a search in its transaction. $1 = caller id, $2 = roles that may search, $3 = terms (jsonb). The search itself gets a plan for
 * its words and a time limit. Returns the query, empty if nothing can match, and the caller's teams whose marks are not indexed.
 */
export const prepareStatement: Statement = {
  name: 'search_prepare',
  text: /* sql */ `
    select set_config('statement_timeout', '1000', true), set_config('jit', 'off', true),
      set_config('plan_cache_mode', 'force_custom_plan', true), search_query($3::jsonb, false)::text as query,
      array(select m.team_id from memberships m
        -- Ordered, so that the planner takes the index instead of all teams' marks.
        cross join lateral (select from search_dirty d where d.team_id = m.team_id order by d.mark limit 1) marked
        where m.user_id = $1 and m.role = any($2::text[])) as behind`,
};

/** $1 = terms (jsonb). The query with similar words of the vocabulary as alternatives. */
export const correctStatement: Statement = {
  name: 'search_correct',
  text: 'select search_query($1::jsonb, true)::text as query',
};

/** Title, tags and text weigh 1, 0.4 and 0.1; what changed today counts twice as much as what is old; corrected matches come last. */
const SCORE = /* sql */ `ts_rank('{0.1,0.2,0.4,1.0}', n.tsv, $3::tsquery)
  * (1 + 1 / (1 + greatest(0, extract(epoch from now() - n.touched_at)::float8) / 2592000))
  * case when $5::tsquery is null or n.tsv @@ $5::tsquery then 1 else 0.3 end`;

const SEATS = /* sql */ `seats as materialized (
  select m.team_id from memberships m where m.user_id = $1 and m.role = any($2::text[])
)`;

/**
 * $1 = caller id, $2 = roles that may search, $3 = query, $4 = maximum results, $5 = the query without corrections, or null, $6 = text to
 * cut the snippet around literally, or null. Reads the caller's teams only, so another team's items cost nothing. At most 1,001 hits are
 * counted; beyond that the newest documents are ranked too, because the first hits are in no order. Each result is the live row, in a team
 * of the caller now: an outdated document shows nothing. One row without an item tells the total of an empty result.
 */
export const searchStatement: Statement = {
  name: 'search_items',
  text: /* sql */ `
with ${SEATS}, hits as materialized (
  select d.* from seats s cross join lateral (
    select n.item_id, ${SCORE} as score from search_documents n
    where n.team_id = s.team_id and n.tsv @@ $3::tsquery limit ${MAX_TOTAL + 1}
  ) d limit ${MAX_TOTAL + 1}
), counted as materialized (
  select count(*)::int as total from hits
), best as materialized (
  select pool.* from (
    select h.item_id, h.score from hits h
    union
    select d.* from seats s cross join lateral (
      select n.item_id, ${SCORE} as score from (
        select * from search_documents w where w.team_id = s.team_id
        order by w.touched_at desc limit (select greatest(${NEWEST} / count(*), ${MIN_NEWEST_OF_TEAM}) from seats)
      ) n where n.tsv @@ $3::tsquery
    ) d where (select total from counted) > ${MAX_TOTAL}
  ) pool order by pool.score desc, pool.item_id limit 2 * $4::int
)
select c.total, r.* from counted c left join lateral (
  select live.item_type, live.item_id, live.title, live.status, live.project_id, project.name as project_name, live.team_id,
    team.name as team_name, b.score, live.updated_at,
    case when $6::text is null
      then ts_headline('assent', translate(left(live.body, 4000), '<${MATCH_START}${MATCH_END}', '${LESS_THAN}'), $3::tsquery,
        'StartSel=${MATCH_START}, StopSel=${MATCH_END}, MaxWords=24, MinWords=10')
      else translate(substr(live.body, greatest(1, strpos(lower(live.body), $6::text) - 40), 240), '${MATCH_START}${MATCH_END}', '')
    end as snippet
  from (select * from best order by score desc, item_id) b
  cross join lateral (select * from search_source s where s.item_id = b.item_id and s.deleted_at is null limit 1) live
  cross join lateral (select t.name from teams t where t.team_id = live.team_id and t.deleted_at is null limit 1) team
  left join lateral (select p.name from projects p where p.project_id = live.project_id limit 1) project on true
  where (live.team_id in (select s.team_id from seats s)) is true
  order by b.score desc, b.item_id limit $4::int
) r on true`,
};

/** $1 = caller id, $2 = roles that may search, $3 = query, $4 = maximum ids. Ids of indexed items that match, in no order. */
export const searchIdsStatement: Statement = {
  name: 'search_ids',
  text: /* sql */ `
    with ${SEATS}
    select d.item_id from seats s cross join lateral (
      select n.item_id from search_documents n where n.team_id = s.team_id and n.tsv @@ $3::tsquery limit $4::int
    ) d limit $4::int`,
};
