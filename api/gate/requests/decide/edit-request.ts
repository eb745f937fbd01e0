import { isDeepStrictEqual } from 'node:util';
import { run } from '../../../../db/statement.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { decideTerms, type RequestRule, type Terms } from '../../requirement/request-rules.js';
import { composeRequest, readOperations, toRequirement } from '../create/compose-request.js';
import { refuseDenied } from '../create/create-request.js';
import { notifyApprovers } from '../create/notify-approvers.js';
import { type ClaimedOperation, readContent, type RequestContent } from '../content.js';
import { readRequest } from '../read/read-request.js';
import { requestChange } from '../request-change.js';
import { readRules } from '../rules/read-rules.js';
import type { ChangeRequest, EditRequest } from '../schema.js';
import { editRequestStatement } from './decide.sql.js';
import { checkHash, checkOpen, type LockedRequest, lockRequest, requestExpired } from './lock-request.js';
import { authorizeRequest } from './policy.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns JSON pointers to the values that differ, the outermost of those that one side lacks. */
function listDifferences(before: unknown, after: unknown, at = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return [at];
  if (Array.isArray(before) && Array.isArray(after) && before.length !== after.length) return [at];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) =>
    Object.hasOwn(before, key) && Object.hasOwn(after, key)
      ? listDifferences(before[key], after[key], `${at}/${escape(key)}`)
      : [`${at}/${escape(key)}`],
  );
}

const isWithin = (pointer: string, editable: string): boolean => pointer === editable || pointer.startsWith(`${editable}/`);

/** What Assent performs keeps its place: system and target follow from the address, and the rules from them, whatever the requester allows. */
const KEEPS_ITS_PLACE = /^\/operations\/[0-9]+\/arguments\/(?!url(?:\/|$))/;

/** Returns how many values differ. @throws INVALID_REQUEST `not_editable`, with the pointer */
function checkEditable(
  { operations: before, editable, executor }: RequestContent,
  operations: readonly ClaimedOperation[],
): number {
  const changed = listDifferences({ operations: before }, { operations });
  if (changed.length === 0) throw invalid('Nothing differs from the request');
  const isAllowed = (pointer: string): boolean =>
    editable.some((one) => isWithin(pointer, one)) && (executor === 'requester' || KEEPS_ITS_PLACE.test(pointer));
  const refused = changed.find((pointer) => !isAllowed(pointer));
  if (refused === undefined) return changed.length;
  throw invalid(`The requester does not allow a change of ${refused}`, { extra: { reason: 'not_editable', path: refused } });
}

/** Who must approve the edited text: never less than before. */
function findTerms(rules: readonly RequestRule[], content: RequestContent, operations: readonly ClaimedOperation[]): Terms {
  const { role, approvals, allow_self, code } = content.requirement;
  const terms = decideTerms(rules, operations, { role, approvals, allow_self });
  refuseDenied(terms);
  return { ...terms, require_code: terms.require_code || code };
}

/** Writes the next revision with its trace. @throws REQUEST_EXPIRED */
async function store(
  ctx: Context,
  request: LockedRequest,
  content: RequestContent,
  details: Record<string, unknown>,
): Promise<void> {
  const { request_id } = request;
  const { canonical, hash, operationHashes, placeHashes, systems, risk } = composeRequest(content);
  const { requirement, revision, use_within_seconds } = content;
  const edited = { ...request, canonical, request_hash: hash, operation_hashes: operationHashes, revision };
  const change = requestChange(ctx.config, edited, {
    action: 'update',
    status: 'pending',
    summary: 'edited a change request',
    severity: 'MEDIUM',
    details,
  });
  const text = [request_id, canonical, hash, operationHashes, placeHashes, systems, risk];
  const terms = [requirement.role, requirement.approvals, requirement.allow_self, requirement.code, requireUser(ctx)];
  const values = [...text, ...terms, JSON.stringify(callerJson(ctx)), JSON.stringify(change), use_within_seconds];
  const [stored] = await run(ctx.db, editRequestStatement, values);
  if (!stored) throw requestExpired({ ...request, status: 'expired' });
}

/**
 * Replaces the operations of a request where its requester allows that. Approvals of the earlier text are void, and the user who edits is behind it.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED `role`, `self`, `denied_by_rule` | INVALID_REQUEST `not_editable` | REQUEST_EXPIRED | RESOURCE_CONFLICT
 */
export function editRequest(ctx: Context, requestId: string, input: EditRequest): Promise<ChangeRequest> {
  return inTransaction(ctx, async (ctx) => {
    const request = await lockRequest(ctx, requestId, 'request.edit');
    authorizeRequest(ctx, 'approved', request);
    checkOpen(request);
    checkHash(request, input.request_hash);
    const before = readContent(request.canonical);
    const own = before.executor === 'assent' ? before.operations.map(({ system }) => system) : [];
    const operations = readOperations(input.operations, own);
    const changed = checkEditable(before, operations);
    const terms = findTerms((await readRules(ctx, request.team_id)).rules, before, operations);
    const use = Math.min(before.use_within_seconds, terms.max_use_seconds ?? before.use_within_seconds);
    const content: RequestContent = {
      ...before,
      revision: request.revision + 1,
      operations,
      requirement: toRequirement(terms),
      use_within_seconds: use,
    };
    await store(ctx, request, content, { changed, ...(input.comment && { comment: input.comment }) });
    await notifyApprovers(ctx, { ...content, self_ids: [...request.self_ids, requireUser(ctx)] }, ['in_app']);
    return readRequest(ctx, requestId);
  });
}
