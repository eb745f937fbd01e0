import { run } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import { conflict } from '../core/errors.js';
import { MAX_ITEMS, isTeamGraphJoinedStatement, lockTeamGraphStatement, walkGraphStatement } from './prevent-cycle.sql.js';

/** Kinds of edges that must not form a cycle. */
export type AcyclicKind = 'contains' | 'blocks';

/** Teams that one check locks (docs/decisions.md#cycle-checks). */
const MAX_TEAMS = 16;

/** A canonical edge, with the teams of its ends: `from_id` contains or blocks `to_id`. */
export interface AcyclicEdge {
  kind: AcyclicKind;
  from_id: string;
  to_id: string;
  from_team_id: string;
  to_team_id: string;
}

interface Walk extends Record<string, unknown> {
  items: number;
  reached: boolean;
  team_ids: string[];
}

async function walkEdges(ctx: Context, edge: AcyclicEdge, ownEdgesOnly: boolean): Promise<Walk> {
  const { kind, from_id, to_id, to_team_id } = edge;
  const [found] = await run<Walk>(ctx.db, walkGraphStatement, [kind, to_id, to_team_id, from_id, ownEdgesOnly]);
  if (!found) throw new Error('The walk returned no row');
  return found;
}

const isTooLarge = ({ items, team_ids }: Walk): boolean => items > MAX_ITEMS || team_ids.length > MAX_TEAMS;

/**
 * Walks from the edge's end. A walk that is too large leaves out what other teams hung below the items: a guest may relate an item of their
 * own team to one that they only read, and must not keep its team from relating it.
 * @throws RESOURCE_CONFLICT too many items or teams below edges of the items' own teams
 */
async function walk(ctx: Context, edge: AcyclicEdge): Promise<Walk> {
  const all = await walkEdges(ctx, edge, false);
  if (!isTooLarge(all)) return all;
  const own = await walkEdges(ctx, edge, true);
  if (own.items > MAX_ITEMS) throw conflict(`More than ${MAX_ITEMS} items depend on this one; the relation cannot be checked`);
  if (own.team_ids.length > MAX_TEAMS)
    throw conflict(`Items of more than ${MAX_TEAMS} teams depend on this one; the relation cannot be checked`);
  return { ...own, reached: own.reached || all.reached };
}

/** Returns the teams to lock first. A walk without locks finds them, so that all are taken in order and nobody deadlocks. */
async function teamsToLock(ctx: Context, edge: AcyclicEdge): Promise<string[]> {
  const { from_team_id, to_team_id, kind } = edge;
  if (from_team_id === to_team_id) {
    const [row] = await run<{ joined: boolean }>(ctx.db, isTeamGraphJoinedStatement, [to_team_id, kind]);
    if (!row?.joined) return [to_team_id];
  }
  return [from_team_id, ...(await walk(ctx, edge)).team_ids];
}

/**
 * Refuses an edge that would close a cycle, and keeps others from closing one before the commit: locks the graphs of both teams and of each
 * team that the walk meets, then walks again, until no team is new. Two edges that could close one cycle meet in at least one of these
 * teams, unless the cycle leads through more than the walk's bounds of what another team hung there. There is no lock of all teams: one would stop the others.
 * @throws RESOURCE_CONFLICT a cycle, or too many items or teams to check
 */
export async function preventCycle(ctx: Context, edge: AcyclicEdge): Promise<void> {
  const locked = new Set<string>();
  let wanted = await teamsToLock(ctx, edge);
  for (;;) {
    const missing = [...new Set(wanted)].filter((id) => !locked.has(id)).sort();
    for (const id of missing) {
      // A statement of its own: the next walk then sees what the previous owner of the lock committed.
      await run(ctx.db, lockTeamGraphStatement, [id]);
      locked.add(id);
    }
    const found = await walk(ctx, edge);
    if (found.reached) throw conflict('The relation would close a cycle');
    if (found.team_ids.every((id) => locked.has(id))) return;
    wanted = found.team_ids;
  }
}
