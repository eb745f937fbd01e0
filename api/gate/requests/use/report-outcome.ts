import { run } from '../../../../db/statement.js';
import { callerJson, type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { canonicalJson } from '../../staging/canonical.js';
import { lockRequest, stateOf } from '../decide/lock-request.js';
import { readRequest } from '../read/read-request.js';
import { requestChange } from '../request-change.js';
import type { ChangeRequest, ReportOutcome } from '../schema.js';
import { checkRequester } from './redeem-request.js';
import { reportOutcomeStatement } from './redeem.sql.js';

/** Returns a report in a form that two can be compared in. */
const toText = (status: string | null, details: object | null): string => canonicalJson({ status, details });

/**
 * Stores what became of a used request, within seven days of its use. The same report again changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED `not_requester` | RESOURCE_CONFLICT `not_redeemed`, `outcome_differs`
 */
export function reportOutcome(ctx: Context, requestId: string, { status, ...details }: ReportOutcome): Promise<ChangeRequest> {
  return inTransaction(ctx, async (ctx) => {
    const request = await lockRequest(ctx, requestId, 'request.use');
    checkRequester(ctx, request);
    if (request.executor === 'assent')
      throw conflict('Assent performs this request itself', { extra: { reason: 'performed_by_assent', ...stateOf(request) } });
    if (request.status !== 'redeemed')
      throw conflict(`The request is ${request.status}`, { extra: { reason: 'not_redeemed', ...stateOf(request) } });
    const { exit_code, duration_ms } = details;
    const change = requestChange(ctx.config, request, {
      action: 'report',
      status: 'redeemed',
      summary: status === 'succeeded' ? 'reported the success of a change request' : `reported a change request as ${status}`,
      event: 'request.finished',
      details: {
        outcome: status,
        ...(exit_code !== undefined && { exit_code }),
        ...(duration_ms !== undefined && { duration_ms }),
      },
    });
    const values = [requestId, status, JSON.stringify(details), JSON.stringify(callerJson(ctx)), JSON.stringify(change)];
    const isSame =
      toText(request.outcome, request.outcome_details) === toText(status, JSON.parse(JSON.stringify(details)) as object);
    if (!isSame && (await run(ctx.db, reportOutcomeStatement, values)).length === 0)
      throw conflict('Another outcome was reported, or seven days have passed', {
        extra: { reason: 'outcome_differs', ...stateOf(request) },
      });
    return readRequest(ctx, requestId);
  });
}
