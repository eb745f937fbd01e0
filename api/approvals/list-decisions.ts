import { run } from '../../db/statement.js';
import { rolesFor } from '../platform/access/access.js';
import { type Context, requireUser } from '../platform/context.js';
import { passesIfStrict, requireScopeIfStrict } from '../platform/access/require-scope.js';
import type { CutPage } from '../platform/endpoint/endpoint.js';
import { gateDecisions } from './gate-decisions.js';
import { planDecisions } from './plan-decisions.js';
import type { DecisionKind, ListDecisions } from './schema.js';
import { waitingStatement } from './waiting.sql.js';

export interface Waiting extends Record<string, unknown> {
  kind: DecisionKind;
  id: string;
}

/**
 * Returns the ids of gates and plans by deadline: those of the caller's teams, of their personal automations, and their own plans. A cursor that the
 * caller may not see begins the list anew. `next`: the id after which the list continues; undefined at its end.
 */
export async function listWaiting(ctx: Context, query: ListDecisions): Promise<{ rows: Waiting[]; next: string | undefined }> {
  const { limit, before = null, team_id = null, kind = null, state } = query;
  const values = [requireUser(ctx), rolesFor('plan.decide'), limit + 1, before, team_id, state, kind];
  const rows = await run<Waiting>(ctx.db, waitingStatement, values);
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? shown.at(-1)?.id : undefined };
}

/** Scope with which a strict token reads plans, here as elsewhere. */
export const PLAN_SCOPE = 'ai:chat';

/**
 * Returns a page of the list with what each decision does. A strict token without the scope of plans is shown gates only.
 * @throws PERMISSION_DENIED it asks for plans
 */
export async function pageOfDecisions(ctx: Context, query: ListDecisions): Promise<CutPage> {
  if (query.kind === 'plan') requireScopeIfStrict(ctx, PLAN_SCOPE);
  const { rows, next } = await listWaiting(ctx, passesIfStrict(ctx, PLAN_SCOPE) ? query : { ...query, kind: 'gate' });
  const listIds = (wanted: DecisionKind): string[] => rows.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  const [gates, plans] = [await gateDecisions(ctx, listIds('gate')), await planDecisions(ctx, listIds('plan'))];
  const decisions = rows.flatMap(({ kind, id }) => (kind === 'gate' ? gates : plans).get(id) ?? []);
  return { body: JSON.stringify(decisions), count: decisions.length, more: next !== undefined, last: next };
}
