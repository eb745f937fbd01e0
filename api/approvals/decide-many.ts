import { defineStatement, run } from '../../db/statement.js';
import { confirmPlan } from '../agent/plans/decisions/confirm-plan.js';
import { discardPlan } from '../agent/plans/decisions/discard-plan.js';
import { type Context, inTransaction, requireUser } from '../platform/context.js';
import { toDomainError } from '../platform/database/database-errors.js';
import { conflict, DomainError, invalid } from '../platform/errors.js';
import { requireScope } from '../platform/access/require-scope.js';
import { approveGate } from '../automation/runs/approvals/approve-gate.js';
import { rejectGate } from '../automation/runs/approvals/reject-gate.js';
import { approveRequest } from '../gate/requests/decide/approve-request.js';
import { rejectRequest } from '../gate/requests/decide/reject-request.js';
import { gateDecisions } from './gate-decisions.js';
import type { ActionLine } from '../gate/staging/schema.js';
import { planDecisions } from './plan-decisions.js';
import { requestDecisions } from './request-decisions.js';
import type { DecideItem, DecideMany, DecideResult, Decision } from './schema.js';

/** Scope that each kind needs of a token. */
const SCOPES = { gate: 'approvals:decide', plan: 'ai:confirm', request: 'approvals:decide' } as const;

/**
 * Locks the runs that the caller may see, in the order of their ids, so that two batches never wait for each other in a circle. $1 = run ids,
 * $2 = caller id.
 */
const lockStatement = defineStatement({
  name: 'lock_decided_runs',
  text: /* sql */ `
    select r.run_id from automation_runs r where r.run_id = any($1::uuid[])
      and (r.team_id in (select m.team_id from memberships m where m.user_id = $2) or (r.team_id is null and r.creator_id = $2))
    order by r.run_id for update of r`,
});

/**
 * Locks the requests that the caller may see, after the caller and their roles and in the order of their ids: a transaction that takes an account or a
 * role away does so too. $1 = request ids, $2 = caller id.
 */
const lockRequestsStatement = defineStatement({
  name: 'lock_decided_requests',
  text: /* sql */ `
    with caller as materialized (
      select u.user_id from users u where u.user_id = $2 for share
    ), seats as materialized (
      select m.team_id from memberships m, caller c where m.user_id = c.user_id
        and m.team_id in (select r.team_id from change_requests r where r.request_id = any($1::uuid[])) order by m.team_id for share of m
    )
    select r.request_id from change_requests r, (select array_agg(team_id) as teams from seats) s
    where r.request_id = any($1::uuid[]) and r.team_id = any(s.teams) order by r.request_id for no key update of r`,
});

async function lockItems(ctx: Context, items: readonly DecideItem[]): Promise<void> {
  const listIds = (wanted: DecideItem['kind']) => items.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  const [runs, requests] = [listIds('gate'), listIds('request')];
  if (runs.length > 0) await run(ctx.db, lockStatement, [runs, requireUser(ctx)]);
  if (requests.length > 0) await run(ctx.db, lockRequestsStatement, [requests, requireUser(ctx)]);
}

const READERS = { gate: gateDecisions, plan: planDecisions, request: requestDecisions };

/** @throws PERMISSION_DENIED */
function checkScope({ actor }: Context, kind: DecideItem['kind']): void {
  if (actor.type === 'pat') requireScope(actor.scopes, SCOPES[kind]);
}

/** A refused action may be allowed by the time of the approval, and its effect was never shown. */
const isUnclear = ({ risk, changed, refused }: ActionLine): boolean => risk === 'high' || changed !== null || refused !== null;

/** A yes to many is for what is read at a glance. @throws RESOURCE_CONFLICT `decide_singly` */
function checkGlance(decision: Decision): void {
  const isRisky = decision.actions === null || decision.actions.some(isUnclear);
  const { approvals, code = false } = decision.requirement;
  if (!isRisky && approvals === 1 && !code) return;
  throw conflict('Open it and decide it by itself: it is of high risk, has changed, or needs a code or more than one approval', {
    extra: { reason: 'decide_singly' },
  });
}

/** Returns what the caller sees of one item, or of all. */
type Reader = (ctx: Context, item: DecideItem) => Promise<Decision | undefined>;
const readOne: Reader = async (ctx, { kind, id }) => (await READERS[kind](ctx, [id])).get(id);

/** Reads the items of a kind together when the first of it is asked for. Their rows are locked, and no decision changes what another item shows. */
function readTogether(items: readonly DecideItem[]): Reader {
  const found: Partial<Record<DecideItem['kind'], ReturnType<(typeof READERS)['gate']>>> = {};
  return async (ctx, { kind, id }) => {
    const ids = items.flatMap((item) => (item.kind === kind ? [item.id] : []));
    found[kind] ??= READERS[kind](ctx, ids);
    return (await found[kind]).get(id);
  };
}

async function decideOne(
  ctx: Context,
  item: DecideItem,
  { decision, comment }: DecideMany,
  read: Reader = readOne,
): Promise<DecideResult> {
  const { kind, id, gate_index, staged_hash } = item;
  checkScope(ctx, kind);
  const seen = await read(ctx, item);
  // A caller who may not decide learns that first, from the decision itself.
  if (decision === 'approve' && seen?.can_decide) checkGlance(seen);
  if (kind === 'plan') {
    if (seen && seen.staged_hash !== staged_hash) throw conflict('The plan differs from the one that you have read');
    const plan = { session_id: null, action_id: id };
    const decided =
      decision === 'approve'
        ? await confirmPlan(ctx, { ...plan, confirmed: true, plan_hash: staged_hash, comment })
        : await discardPlan(ctx, { ...plan, comment });
    return { kind, id, status: decided.status };
  }
  if (kind === 'request') {
    const asked = { request_hash: staged_hash, comment };
    const { status } = await (decision === 'approve' ? approveRequest(ctx, id, asked) : rejectRequest(ctx, id, asked));
    return { kind, id, status };
  }
  const place = { ...(gate_index !== undefined && { gate_index }), comment, staged_hash };
  const { status } = decision === 'approve' ? await approveGate(ctx, id, place) : await rejectGate(ctx, id, place);
  return { kind, id, status };
}

/** Holds the row first, so that a late caller gets the decision, and what was glanced at is what is approved. */
function decideAlone(ctx: Context, item: DecideItem, input: DecideMany): Promise<DecideResult> {
  if (item.kind === 'plan') return decideOne(ctx, item, input);
  return inTransaction(ctx, async (ctx) => {
    await lockItems(ctx, [item]);
    return decideOne(ctx, item, input);
  });
}

function toRefusal({ kind, id }: DecideItem, thrown: unknown): DecideResult {
  const { code, status, message, extra } = toDomainError(thrown);
  const { reason } = extra;
  return { kind, id, error_code: code, ...(typeof reason === 'string' && { reason }), message, http_status: status };
}

/** Decides all or none. @throws the error of the first item that is refused, with `item` */
function decideAll(ctx: Context, input: DecideMany): Promise<DecideResult[]> {
  const { items } = input;
  if (items.some(({ kind }) => kind === 'plan')) throw invalid('mode all decides gates and requests only');
  return inTransaction(ctx, async (ctx) => {
    await lockItems(ctx, items);
    const results: DecideResult[] = [];
    const read = readTogether(items);
    for (const item of items) {
      const result = await decideOne(ctx, item, input, read).catch((thrown: unknown) => {
        const { code, message, detail, status, extra } = toDomainError(thrown);
        const about = { item: { kind: item.kind, id: item.id } };
        throw new DomainError(code, message, { detail, status, extra: { ...extra, ...about }, cause: thrown });
      });
      results.push(result);
    }
    return results;
  });
}

/**
 * Decides up to 100 gates, plans and requests, in the given order. With `each` an item that is refused leaves the others: its result says why. What is of high
 * risk, has changed, or needs several approvals is approved by itself only (docs/decisions/gate.md#deciding-many).
 * @throws with `all`, the error of the first refused item; nothing is decided then
 */
export async function decideMany(ctx: Context, input: DecideMany): Promise<{ results: DecideResult[] }> {
  if (input.mode === 'all') return { results: await decideAll(ctx, input) };
  const results: DecideResult[] = [];
  for (const item of input.items) {
    results.push(await decideAlone(ctx, item, input).catch((thrown: unknown) => toRefusal(item, thrown)));
  }
  return { results };
}
