import type { IncomingHttpHeaders } from 'node:http';
import { run } from '../../../db/statement.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type Context, inTransaction } from '../../platform/context.js';
import type { RawRequest } from '../../platform/endpoint/endpoint.js';
import { cleanUserAgent } from '../../platform/endpoint/user-agent.js';
import { DomainError, invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { readCaller, RUN_HEADER } from '../actions/calling-run.js';
import { tripBreaker } from '../definitions/matching/trip-breaker.js';
import { evaluateCondition } from '../language/condition.js';
import { conditionScope } from '../language/condition-scope.js';
import { createRun } from '../runs/record/create-run.js';
import { deriveSkippedId, recordSkipped } from '../runs/record/record-skipped.js';
import { truncateEvent } from '../runs/record/truncate-event.js';
import { mediaType, readCall } from './call-body.js';
import * as sql from './receive-call.sql.js';
import type { AcceptedCall } from './schema.js';
import { hashOf } from './token.js';
import { verifyCall } from './verify-call.js';

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** The automation that a call starts, as its row is now. */
interface Called extends Record<string, unknown> {
  automation_id: string;
  name: string;
  version: number;
  team_id: string | null;
  project_id: string | null;
  condition: string | null;
  enabled_by: string[];
  created_by: string;
  project: object | null;
}

/** The address that a token names; its signing secret, if it has one. */
interface FoundHook extends Record<string, unknown> {
  automation_id: string;
  data_key: Buffer | null;
  sealed_value: Buffer | null;
}

/** What caused a call, as far as known. */
interface Cause {
  depth: number;
  people: string[];
}

/** What a call brings. */
interface Given {
  tokenHash: Buffer;
  key: string | null;
  /** The run of ours that calls. */
  caller: string | undefined;
  content: ReturnType<typeof readCall> & { content_type: string | null };
}

/** The same for each reason, so that a stranger learns nothing. */
const unknown = () => notFound('Address');

/** Returns the caller's key of a call; null without one. A signature covers only one of both headers. @throws INVALID_REQUEST */
function readKey(headers: IncomingHttpHeaders, isSigned: boolean): string | null {
  const key = isSigned ? headers['webhook-id'] : (headers['idempotency-key'] ?? headers['webhook-id']);
  if (key === undefined) return null;
  if (typeof key === 'string' && PRINTABLE.test(key)) return key;
  throw invalid('Idempotency-Key must have 1 to 255 printable ASCII characters');
}

/**
 * Returns what caused a call. A run of ours that calls an address names itself in a header that its author cannot change, so that automations that
 * call each other end at the same depth as others, and the users behind that run are behind the next one.
 */
async function findCause(ctx: Context, { team_id, created_by }: Called, runId: string | undefined): Promise<Cause> {
  if (runId === undefined) return { depth: 0, people: [] };
  const [calling] = await run<Cause & Record<string, unknown>>(ctx.db, sql.callingRunStatement, [runId, team_id, created_by]);
  return calling ? { depth: calling.depth + 1, people: calling.people } : { depth: 0, people: [] };
}

function buildEvent(ctx: Context, { team_id, project_id }: Called, now: Date, { content }: Given): Record<string, unknown> {
  const occurred_at = now.toISOString();
  return { type: 'webhook', event_id: ctx.requestId, occurred_at, team_id, project_id, actor_id: null, ...content };
}

/** Creates the run, or records that the condition or the depth skips it. Returns false if it was skipped. */
async function start(ctx: Context, automation: Called, given: Given, heldBy: string[]): Promise<boolean> {
  const { automation_id, version, condition, project, team_id, project_id, name } = automation;
  const now = new Date();
  const event = buildEvent(ctx, automation, now, given);
  if (truncateEvent(event).truncated) throw new DomainError('PAYLOAD_TOO_LARGE', 'The body is too large to be kept whole');
  const { depth, people } = await findCause(ctx, automation, given.caller);
  const scope = () => conditionScope(event, { project, actor: null, now });
  const verdict = condition === null ? { matched: true, error: null } : evaluateCondition(condition, scope());
  const run_id = newId();
  const isTooDeep = depth > ctx.config.AUTOMATION_MAX_DEPTH;
  if (isTooDeep || !verdict.matched) {
    const about = { automation_id, automation_version: version, triggered_by: null, depth, run_id: deriveSkippedId(run_id, now) };
    const reason = isTooDeep ? ({ skip_reason: 'loop', condition_error: null } as const) : skippedBy(verdict.error);
    await recordSkipped(ctx, [{ ...about, ...reason }]);
    return false;
  }
  const cause_user_ids = [...new Set([...heldBy, ...automation.enabled_by, ...people])];
  await createRun(ctx, { run_id, automation, event, trigger_type: 'webhook', depth, cause_user_ids });
  await recordChange(ctx, {
    team_id,
    project_id,
    feature: 'automations',
    action: 'execute',
    entity_type: 'automation_run',
    entity_id: run_id,
    title: name,
    summary: `started ${name} by a call to its address`,
    details: { automation_id, automation_version: version, part: 'address' },
  });
  return depth > 0;
}
const skippedBy = (condition_error: string | null) => ({ skip_reason: 'condition_false' as const, condition_error });

/** Takes one call in one transaction: address, key, condition, run. Returns its id, and whether a run caused another one. */
function take(ctx: Context, automationId: string, given: Given): Promise<{ delivery_id: string; caused: boolean }> {
  return inTransaction(ctx, async (ctx) => {
    const [automation] = await run<Called>(ctx.db, sql.lockCalledStatement, [automationId]);
    const [hook] = automation
      ? await run<{ held_by: string[] }>(ctx.db, sql.countCallStatement, [automationId, given.tokenHash])
      : [];
    if (!automation || !hook) throw unknown();
    const delivery_id = ctx.requestId;
    if (given.key !== null) {
      const use = [automationId, hashOf(given.key)];
      const claimed = await run(ctx.db, sql.claimCallStatement, [...use, delivery_id]);
      if (claimed.length === 0) {
        const [first] = await run<{ delivery_id: string }>(ctx.db, sql.firstCallStatement, use);
        return { delivery_id: first?.delivery_id ?? delivery_id, caused: false };
      }
    }
    return { delivery_id, caused: await start(ctx, automation, given, hook.held_by) };
  });
}

/** Notes for those who look after the address why a call was refused; another failure of the note is no matter of the caller. */
async function noteRefusal({ services }: RawRequest, automationId: string, error: unknown): Promise<void> {
  if (!(error instanceof DomainError) || error.status >= 500 || error.status === 404) return;
  await run(services.db, sql.noteRefusalStatement, [automationId, error.message]).catch((err: unknown) =>
    services.log.warn({ err }, 'a refused call was not noted'),
  );
}

/**
 * Takes a call of the address of an automation (docs/decisions/automation.md#calls-of-an-address). Its size is already checked. An unknown token
 * costs one look-up by an index; a known one is counted for its automation before its body is parsed. Works without Temporal.
 * @throws RESOURCE_NOT_FOUND unknown, replaced or removed, or the automation is not enabled | AUTHENTICATION_REQUIRED | RATE_LIMIT_EXCEEDED | INVALID_REQUEST a bad key, no JSON,
 * or a value that cannot be stored | PAYLOAD_TOO_LARGE
 */
export async function receiveCall(request: RawRequest): Promise<AcceptedCall> {
  const { services, headers, requestId, ip } = request;
  const tokenHash = hashOf(request.params['token'] as string);
  const [found] = await run<FoundHook>(services.db, sql.findHookStatement, [tokenHash]);
  if (!found) throw unknown();
  const { automation_id, data_key, sealed_value } = found;
  try {
    await request.count(automation_id);
    const isSigned = data_key !== null && sealed_value !== null;
    if (isSigned) verifyCall(services.config, automation_id, { data_key, sealed_value }, request);
    const content_type = mediaType(headers['content-type']);
    const content = { ...readCall(request.body, content_type, isSigned ? {} : request.query), content_type };
    const key = readKey(headers, isSigned);
    const given = { tokenHash, key, caller: readCaller(services.config, headers[RUN_HEADER]), content };
    const caller = { actor: { type: 'system', name: 'hook' } as const, ip, userAgent: cleanUserAgent(headers['user-agent']) };
    const ctx: Context = { ...services, ...caller, requestId, correlationId: requestId };
    const { delivery_id, caused } = await take(ctx, automation_id, given);
    if (caused) await tripBreaker(services, [automation_id]);
    return { accepted: true, delivery_id };
  } catch (error) {
    await noteRefusal(request, automation_id, error);
    throw error;
  }
}
