import { ROLES } from '../../db/models/rules.js';
import { resultsCall } from '../../api/work/saved-views/results/query.sql.js';

/** A saved view as the baseline reads it. */
export interface FoundView {
  user_id: string;
  team_id: string;
  filters: object;
}

/** $2 = view id. `caller` is the CTE that finds the caller by the token ($1). */
export const viewStatement = (caller: string): string =>
  `with ${caller} select user_id, team_id, filters from caller join saved_views v on v.owner_id = user_id where v.view_id = $2`;

/** The product's own statement for a page of a view, to be prepared once; what the view holds is not checked. */
export function viewQuery({ user_id, team_id, filters }: FoundView, limit: number) {
  const view = { entity: 'task' as const, userId: user_id, roles: [...ROLES], teamId: team_id, filters };
  const { statement, values } = resultsCall(
    { ...view, fieldFilters: [], notFieldFilters: [], found: null, sort: [], group: null },
    { maxBytes: 1e9, limit: limit + 1, offset: 0 },
  );
  return { name: 'results', text: statement.text, values: [...values] };
}

/**
 * A search as a bare handler would write it: all words of the query in the caller's teams, at most 2,000 hits ranked, the best with a snippet.
 * `caller` finds the user by the token ($1). $2 = words joined by " & ", $3 = maximum results.
 */
export const plainSearch = (caller: string): string => /* sql */ `
with ${caller}, hits as (
  select n.item_id, ts_rank(n.tsv, q) as score
  from to_tsquery('assent', $2) q, caller c join memberships m using (user_id)
  cross join lateral (select * from search_documents d where d.team_id = m.team_id and d.tsv @@ q limit 2000) n
)
select t.task_id, t.title, t.status, t.project_id, p.name, t.team_id, t.updated_at, h.score,
  ts_headline('assent', left(t.description, 4000), to_tsquery('assent', $2), 'MaxWords=24, MinWords=10') as snippet
from (select * from hits order by score desc, item_id limit $3::int) h
join tasks t on t.task_id = h.item_id and t.deleted_at is null join projects p on p.project_id = t.project_id
order by h.score desc, h.item_id`;
