import type { RequestView } from '../../../../workflows/contracts/request-contract.js';
import { run } from '../../../../db/statement.js';
import { webOrigin } from '../../../platform/settings/web-origin.js';
import { callerJson, inTransaction, type Services, serviceContext } from '../../../platform/context.js';
import { countRequests } from '../../../platform/telemetry/metrics.js';
import { readContent } from '../content.js';
import { notifyApprovers, notifyRequester } from '../create/notify-approvers.js';
import { BATCH, expireRequestsStatement } from '../decide/close.sql.js';
import type { ClosedRequest } from '../decide/close-requests.js';
import { claimRequestReminderStatement, forgetOutcomesStatement, viewRequestStatement } from './settle.sql.js';

interface Row extends Record<string, unknown> {
  state: Exclude<RequestView['state'], 'gone'>;
  source: string;
  systems: string[];
  operations: number;
  required_role: string;
  required_approvals: number;
  approvals: number;
  reason: string | null;
  outcome: string | null;
  decided_by: string | null;
  redeemed_by: string | null;
  until: Date;
  performs: boolean;
  reminds: boolean;
  ms_left: number;
}

/** Reminds those who may approve a request, once: the same transaction marks the row. */
async function remind(services: Services, requestId: string): Promise<void> {
  await inTransaction(serviceContext(services, 'requests'), async (ctx) => {
    const [due] = await run<{ canonical: string; self_ids: string[] }>(ctx.db, claimRequestReminderStatement, [requestId]);
    if (due)
      await notifyApprovers(
        ctx,
        { ...readContent(due.canonical), self_ids: due.self_ids },
        ['in_app', 'email'],
        'change_reminder',
      );
  });
}

/** Expires requests past their time and tells their requesters; with `requestId` this one only. Returns their number. May be repeated. */
export async function expireRequests(services: Services, requestId: string | null = null): Promise<number> {
  let total = 0;
  for (let count = BATCH; count === BATCH; total += count) {
    count = await inTransaction(serviceContext(services, 'requests'), async (ctx) => {
      const values = [JSON.stringify(callerJson(ctx)), requestId, webOrigin(ctx.config)];
      const closed = await run<ClosedRequest>(ctx.db, expireRequestsStatement, values);
      for (const request of closed) await notifyRequester(ctx, request, 'expired');
      return closed.length;
    });
    countRequests('expired', count);
  }
  return total;
}

/**
 * Ends the outcome of used requests as unknown where nobody has reported one; with `requestId` of this one only, if `isOver` before its time. Returns their
 * number. May be repeated.
 */
export async function forgetOutcomes(services: Services, requestId: string | null = null, isOver = false): Promise<number> {
  let total = 0;
  for (let count = BATCH; count === BATCH; total += count) {
    const ctx = serviceContext(services, 'requests');
    const values = [JSON.stringify(callerJson(ctx)), requestId, webOrigin(ctx.config), isOver && requestId !== null];
    count = (await run<{ unknown: number }>(services.db, forgetOutcomesStatement, values))[0]?.unknown ?? 0;
  }
  if (total > 0) services.notifyRelay();
  return total;
}

const GONE: RequestView = {
  state: 'gone',
  msLeft: null,
  performs: false,
  reminds: false,
  until: null,
  source: null,
  systems: [],
  operations: 0,
  role: null,
  approvals: 0,
  needed: 0,
  decidedBy: null,
  redeemedBy: null,
  reason: null,
  outcome: null,
};

const isOpen = ({ state, outcome }: Row): boolean =>
  state === 'pending' || state === 'approved' || (state === 'redeemed' && outcome === null);

/** Time in ms until the next look at a request that is due and that a decision holds: its end is near. */
const HELD_MS = 1_000;

/** Does what the time of a request asks for, and returns its state. May be repeated. */
export async function settleRequest(services: Services, requestId: string): Promise<RequestView> {
  const read = () => run<Row>(services.db, viewRequestStatement, [requestId]);
  let [row] = await read();
  if (row && isOpen(row) && row.ms_left === 0) {
    if (row.reminds) await remind(services, requestId);
    if (row.state === 'redeemed') await forgetOutcomes(services, requestId);
    else await expireRequests(services, requestId);
    [row] = await read();
  }
  if (!row) return GONE;
  return {
    state: row.state,
    msLeft: isOpen(row) ? row.ms_left || HELD_MS : null,
    performs: row.performs,
    reminds: row.reminds,
    until: row.until.toISOString(),
    source: row.source,
    systems: row.systems,
    operations: row.operations,
    role: row.required_role,
    approvals: row.approvals,
    needed: row.required_approvals,
    decidedBy: row.decided_by,
    redeemedBy: row.redeemed_by,
    reason: row.reason,
    outcome: row.outcome,
  };
}
