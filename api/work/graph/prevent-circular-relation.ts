import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { MAX_ITEMS, lockTeamGraphStatement, type WalkDirection, walkStatements } from './prevent-circular-relation.sql.js';

/** Kinds of edges that must not become circular. */
export type AcyclicKind = 'contains' | 'blocks';

/** Teams that one check locks (docs/decisions/work.md#cycle-checks). */
const MAX_TEAMS = 16;

/** A canonical edge, with the teams of its ends: `from_id` contains or blocks `to_id`. */
export interface AcyclicEdge {
  kind: AcyclicKind;
  from_id: string;
  to_id: string;
  from_team_id: string;
  to_team_id: string;
}

/** The error of an edge that would make a relation circular. */
export const circularRelation = () =>
  conflict('The relation would close a cycle', {
    detail:
      'The items are already related the other way round, directly or through others. Delete a relation between them first, or swap source and target.',
  });

interface Walk extends Record<string, unknown> {
  items: number;
  reached: boolean;
  team_ids: string[];
}

async function walkEdges(ctx: Context, { kind, ...ends }: AcyclicEdge, direction: WalkDirection): Promise<Walk> {
  const { from_id, from_team_id, to_id, to_team_id } = ends;
  const values = direction === 'below' ? [kind, to_id, to_team_id, from_id] : [kind, from_id, from_team_id, to_id];
  const [found] = await run<Walk>(ctx.db, walkStatements[direction], values);
  if (!found) throw new Error('The walk returned no row');
  return found;
}

const isComplete = ({ items, team_ids }: Walk): boolean => items <= MAX_ITEMS && team_ids.length <= MAX_TEAMS;

/**
 * Walks down from the edge's end, or up from its beginning if the first is too large: either of them alone finds every circular relation. So a team
 * that hangs many items below another team's item does not keep that team from relating it.
 * @throws RESOURCE_CONFLICT both walks meet too many items or teams
 */
async function walk(ctx: Context, edge: AcyclicEdge): Promise<Walk> {
  const below = await walkEdges(ctx, edge, 'below');
  if (below.reached || isComplete(below)) return below;
  const above = await walkEdges(ctx, edge, 'above');
  if (above.reached || isComplete(above)) return above;
  throw conflict(
    `The relation cannot be checked for cycles: on both sides it leads to more than ${MAX_ITEMS} items or ${MAX_TEAMS} teams`,
  );
}

/**
 * Rejects an edge that would make a relation circular, and keeps others from doing so before the commit: walks without locks, so that an edge which
 * closes a committed circle stops nobody, locks the graphs of both teams and of each team that the walk met, and walks again, until no team is new. Whatever edge of a circle is not yet committed at the last walk begins
 * or ends at an item that the walk meets, so its transaction holds a lock that this one has: there is none. No lock spans all teams,
 * because one team would then stop the others.
 * @throws RESOURCE_CONFLICT a circular relation, or too many items or teams to check
 */
export async function preventCircularRelation(ctx: Context, edge: AcyclicEdge): Promise<void> {
  const locked = new Set<string>();
  for (;;) {
    const found = await walk(ctx, edge);
    if (found.reached) throw circularRelation();
    const wanted = new Set([edge.from_team_id, edge.to_team_id, ...found.team_ids]);
    const missing = [...wanted].filter((id) => !locked.has(id)).sort();
    if (missing.length === 0) return;
    for (const id of missing) {
      // A statement of its own: the next walk then sees what the previous owner of the lock committed.
      await run(ctx.db, lockTeamGraphStatement, [id]);
      locked.add(id);
    }
  }
}
