import { run } from '../../db/statement.js';
import { rolesFor } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import type { CutPage } from '../endpoint/endpoint.js';
import { gateDecisions } from './gate-decisions.js';
import { planDecisions } from './plan-decisions.js';
import type { Decision, DecisionKind, ListDecisions } from './schema.js';
import { waitingStatement } from './waiting.sql.js';

interface Waiting extends Record<string, unknown> {
  kind: DecisionKind;
  id: string;
}

/** A page of decisions. */
export interface DecisionPage {
  decisions: Decision[];
  /** Id after which the list continues; undefined at its end. */
  next: string | undefined;
}

/**
 * Lists gates and plans by deadline: those of the caller's teams, of their personal automations, and their own plans. A cursor that the caller may
 * not see begins the list anew.
 */
export async function listDecisions(ctx: Context, query: ListDecisions): Promise<DecisionPage> {
  const { limit, before = null, team_id = null, kind = null, state } = query;
  const values = [userOf(ctx), rolesFor('plan.decide'), limit + 1, before, team_id, state, kind];
  const rows = await run<Waiting>(ctx.db, waitingStatement, values);
  const shown = rows.slice(0, limit);
  const idsOf = (wanted: DecisionKind): string[] => shown.flatMap((row) => (row.kind === wanted ? [row.id] : []));
  const [gates, plans] = [await gateDecisions(ctx, idsOf('gate')), await planDecisions(ctx, idsOf('plan'))];
  const decisions = shown.flatMap((row) => (row.kind === 'gate' ? gates : plans).get(row.id) ?? []);
  return { decisions, next: rows.length > limit ? shown.at(-1)?.id : undefined };
}

/** Returns a page of the same list for the API. */
export async function pageOfDecisions(ctx: Context, query: ListDecisions): Promise<CutPage> {
  const { decisions, next } = await listDecisions(ctx, query);
  return { body: JSON.stringify(decisions), count: decisions.length, more: next !== undefined, last: next };
}
