import { run } from '../../db/statement.js';
import { rolesFor } from '../platform/access/access.js';
import { type Context, requireUser } from '../platform/context.js';
import { hasScopeOf, passesIfStrict, requireScope, requireScopeIfStrict } from '../platform/access/require-scope.js';
import type { CutPage } from '../platform/endpoint/endpoint.js';
import { gateDecisions } from './gate-decisions.js';
import { planDecisions } from './plan-decisions.js';
import { requestDecisions } from './request-decisions.js';
import type { DecisionKind, ListDecisions } from './schema.js';
import { waitingStatement } from './waiting.sql.js';

export interface Waiting extends Record<string, unknown> {
  kind: DecisionKind;
  id: string;
}

/**
 * Returns the ids of gates, plans and requests by deadline: those of the caller's teams, of their personal automations, and their own plans. A cursor that the
 * caller may not see begins the list anew. `next`: the id after which the list continues; undefined at its end.
 */
export async function listWaiting(
  ctx: Context,
  query: ListDecisions & { kinds?: DecisionKind[] },
): Promise<{ rows: Waiting[]; next: string | undefined }> {
  const { limit, before = null, team_id = null, kind, kinds = kind === undefined ? null : [kind], state } = query;
  const values = [requireUser(ctx), rolesFor('plan.decide'), limit + 1, before, team_id, state, kinds];
  const rows = await run<Waiting>(ctx.db, waitingStatement, values);
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? shown.at(-1)?.id : undefined };
}

/** Scopes with which a token reads plans, if it is strict, and requests, as elsewhere. */
const SCOPES_TO_READ = { plan: 'ai:chat', request: 'requests:read' } as const;

/** @throws PERMISSION_DENIED naming the scope that the caller's token lacks */
export function requireScopeToRead(ctx: Context, kind: DecisionKind): void {
  if (kind === 'plan') requireScopeIfStrict(ctx, SCOPES_TO_READ.plan);
  if (kind === 'request' && ctx.actor.type === 'pat') requireScope(ctx.actor.scopes, SCOPES_TO_READ.request);
}

/** Returns the kinds that the caller's token may read. */
export function listReadable(ctx: Context): DecisionKind[] {
  const plan = passesIfStrict(ctx, SCOPES_TO_READ.plan) ? (['plan'] as const) : [];
  const request = hasScopeOf(ctx, SCOPES_TO_READ.request) ? (['request'] as const) : [];
  return ['gate', ...plan, ...request];
}

/**
 * Returns a page of the list with what each decision does. A token without the scope of plans or requests is not shown them.
 * @throws PERMISSION_DENIED it asks for them
 */
export async function pageOfDecisions(ctx: Context, query: ListDecisions): Promise<CutPage> {
  const { kind } = query;
  if (kind !== undefined) requireScopeToRead(ctx, kind);
  const { rows, next } = await listWaiting(ctx, { ...query, ...(kind === undefined && { kinds: listReadable(ctx) }) });
  const listIds = (wanted: DecisionKind): string[] => rows.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  const found = {
    gate: await gateDecisions(ctx, listIds('gate')),
    plan: await planDecisions(ctx, listIds('plan')),
    request: await requestDecisions(ctx, listIds('request')),
  };
  const decisions = rows.flatMap(({ kind, id }) => found[kind].get(id) ?? []);
  return { body: JSON.stringify(decisions), count: decisions.length, more: next !== undefined, last: next };
}
