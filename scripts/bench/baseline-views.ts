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
    { ...view, fieldFilters: [], found: null, sort: [], group: null },
    { maxBytes: 1e9, limit: limit + 1, offset: 0 },
  );
  return { name: 'results', text: statement.text, values: [...values] };
}
