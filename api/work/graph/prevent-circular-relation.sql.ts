import { defineStatement, type Statement } from '../../../db/statement.js';

/** Items that one check visits (docs/decisions/work.md#cycle-checks). */
export const MAX_ITEMS = 10_000;

/** The edges that leave item b of a walk, and the subtasks or the parent, as rows of item_id and team_id. */
const EDGES = {
  below: /* sql */ `
        select r.to_id as item_id, r.to_team_id as team_id from relations r where r.kind = $1 and r.from_id = b.item_id
        union all
        select t.task_id, t.team_id from tasks t where $1 = 'contains' and t.parent_task_id = b.item_id`,
  above: /* sql */ `
        select r.from_id as item_id, r.from_team_id as team_id from relations r where r.kind = $1 and r.to_id = b.item_id
        union all
        select t.parent_task_id, t.team_id from tasks t where $1 = 'contains' and t.task_id = b.item_id and t.parent_task_id is not null`,
};
export type WalkDirection = keyof typeof EDGES;

/**
 * $1 = canonical kind, $2 = item where the walk begins, $3 = its team, $4 = item that it must not reach. Items in the trash count, because
 * they can be restored.
 */
const walkStatement = (direction: WalkDirection): Statement =>
  defineStatement({
    name: `walk_graph_${direction}`,
    text: /* sql */ `
    with recursive walked (item_id, team_id) as (
      select $2::text, $3::uuid
      union
      select e.item_id, e.team_id from walked b cross join lateral (${EDGES[direction]}
      ) e
    ), visited as materialized (select item_id, team_id from walked limit ${MAX_ITEMS + 1})
    select count(*)::int as items, coalesce(bool_or(item_id = $4), false) as reached, array_agg(distinct team_id::text) as team_ids
    from visited`,
  });
export const walkStatements = { below: walkStatement('below'), above: walkStatement('above') };

export const lockTeamGraphStatement = defineStatement({
  name: 'lock_team_graph',
  text: `select pg_advisory_xact_lock(hashtextextended('graph:' || $1, 0))`,
});
