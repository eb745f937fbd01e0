import { run } from '../../../../db/statement.js';
import { authorize, type Seat, SEATS } from '../../../platform/access/access.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden, notFound, unauthenticated } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { decideTerms, type RequestRule, type Terms } from '../../requirement/request-rules.js';
import { hashOperation } from '../../staging/operation.js';
import type { ClaimedOperation } from '../content.js';
import { readRequest } from '../read/read-request.js';
import { requestChange } from '../request-change.js';
import type { ChangeRequest, NewRequest } from '../schema.js';
import { checkVisible, type ComposedRequest, composeRequest, hashPlace, toRequirement } from './compose-request.js';
import { insertRequestStatement, lockRequesterStatement, openingStatement } from './create.sql.js';
import { checkLimits, type Standing } from './limits.js';
import { notifyApprovers } from './notify-approvers.js';

const tokenOf = ({ actor }: Context): string | null => (actor.type === 'pat' ? actor.tokenId : null);

interface Opening extends Standing, Record<string, unknown> {
  now: Date;
  rules: RequestRule[];
}

/** What is asked for, and who performs it after the yes. */
export interface Prepared {
  operations: ClaimedOperation[];
  executor: ChangeRequest['executor'];
  /** By default what the caller says. */
  source?: 'mcp';
  /** Of a call through the gateway: its server, and the key that finds it again. */
  gateway?: { upstream_id: string; call_hash: Buffer };
}

/** @throws RESOURCE_NOT_FOUND | AUTHENTICATION_REQUIRED suspended or revoked during the request | PERMISSION_DENIED a guest, or no member */
async function lockRequester(ctx: Context, teamId: string): Promise<void> {
  const values = [teamId, requireUser(ctx), tokenOf(ctx)];
  const [locked] = await run<{ seat: Seat | null; is_active: boolean }>(ctx.db, lockRequesterStatement, values);
  if (!locked) throw notFound('Team');
  if (!locked.is_active) throw unauthenticated();
  authorize('request.create', locked.seat);
}

/** @throws PERMISSION_DENIED `denied_by_rule` */
export function refuseDenied({ denied_by }: Terms): void {
  if (denied_by === null) return;
  throw forbidden('A rule of the team refuses such an operation', {
    extra: { reason: 'denied_by_rule', rule_id: denied_by.rule_id },
  });
}

/** Returns what an asked requirement names. */
const given = ({ requirement = {} }: NewRequest): Partial<Terms['requirement']> =>
  Object.fromEntries(Object.entries(requirement).filter(([, value]) => value !== undefined));

function compose(
  ctx: Context,
  input: NewRequest,
  { operations, executor, gateway, source: by }: Prepared,
  terms: Terms,
  createdAt: Date,
): ComposedRequest {
  const { team_id, title, reason = null, source, editable, context = null, expires_in_seconds, use_within_seconds } = input;
  return composeRequest({
    v: 1,
    request_id: newId(),
    revision: 1,
    team_id,
    requested_by: requireUser(ctx),
    token_id: tokenOf(ctx),
    source: gateway ? 'gateway' : (by ?? source),
    title,
    reason,
    operations,
    requirement: toRequirement(terms),
    executor,
    editable,
    context,
    expires_at: new Date(createdAt.getTime() + expires_in_seconds * 1_000).toISOString(),
    use_within_seconds: Math.min(use_within_seconds, terms.max_use_seconds ?? use_within_seconds),
  });
}

/** Writes the request with its trace and its start, and tells those who may approve. */
async function store(
  ctx: Context,
  request: ComposedRequest,
  { terms, createdAt, gateway }: { terms: Terms; createdAt: Date; gateway: Prepared['gateway'] },
): Promise<void> {
  const { content, canonical, hash, operationHashes, placeHashes, systems, risk } = request;
  const { request_id, team_id, requested_by, token_id, source, title, executor, requirement } = content;
  const row = {
    request_id,
    team_id,
    requested_by,
    token_id,
    source,
    executor,
    systems,
    title,
    risk,
    required_role: requirement.role,
    required_approvals: requirement.approvals,
    allow_self: requirement.allow_self,
    require_code: requirement.code,
    created_at: createdAt,
    expires_at: content.expires_at,
    use_seconds: content.use_within_seconds,
    depth: 0,
    correlation_id: ctx.correlationId,
    upstream_id: gateway?.upstream_id ?? null,
    call_hash: gateway?.call_hash.toString('hex') ?? null,
    lower_roles: SEATS.slice(0, SEATS.indexOf(requirement.role) + 1),
  };
  const traced = {
    request_id,
    team_id,
    canonical,
    request_hash: hash,
    operation_hashes: operationHashes,
    revision: 1,
    self_ids: [],
    depth: 0,
  };
  const change = requestChange(ctx.config, traced, {
    action: 'create',
    status: 'pending',
    summary: 'asked for a change',
    event: 'request.created',
    details: { rule_ids: terms.rules.map((rule) => rule?.rule_id ?? null), requirement },
  });
  const values = [JSON.stringify(row), canonical, hash, operationHashes, placeHashes];
  const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change)];
  const [stored] = await run<{ self_ids: string[]; mails: boolean }>(ctx.db, insertRequestStatement, [...values, ...traces]);
  if (!stored) throw new Error('The statement returns one row');
  await notifyApprovers(ctx, { ...content, self_ids: stored.self_ids }, stored.mails ? ['in_app', 'email'] : ['in_app']);
}

/**
 * Asks people for a yes to exactly these operations. Rules of the team say who must approve; the caller may ask for more.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED a guest, or `denied_by_rule` | INVALID_REQUEST `reserved_system`, invisible characters,
 * sizes | RESOURCE_CONFLICT `too_many_open`, `refused_before`
 */
export function createRequest(ctx: Context, input: NewRequest, prepared: Prepared): Promise<ChangeRequest> {
  const { team_id, title, reason, context, editable } = input;
  checkVisible({ title, reason, context, editable });
  const { operations } = prepared;
  return inTransaction(ctx, async (ctx) => {
    await lockRequester(ctx, team_id);
    const hashes = [operations.map((operation) => hashOperation(operation).hash), operations.map(hashPlace)];
    const [opening] = await run<Opening>(ctx.db, openingStatement, [team_id, requireUser(ctx), ...hashes]);
    if (!opening) throw new Error('The statement returns one row');
    const terms = decideTerms(opening.rules, operations, given(input));
    refuseDenied(terms);
    checkLimits(opening);
    const request = compose(ctx, input, prepared, terms, opening.now);
    await store(ctx, request, { terms, createdAt: opening.now, gateway: prepared.gateway });
    return readRequest(ctx, request.content.request_id);
  });
}
