import type { PlanView } from '../../../../workflows/contracts/plan-contract.js';
import { run } from '../../../../db/statement.js';
import { inTransaction, type Services, serviceContext } from '../../../platform/context.js';
import { notifyStaged } from '../notify-plan.js';
import type { PlanSource } from '../../../gate/work-actions/action.js';
import type { Risk } from '../../../gate/contract/action-type.js';
import { expirePlans } from './expire-plans.js';
import { claimReminderStatement, viewPlanStatement } from './watch-plan.sql.js';

interface Row extends Record<string, unknown> {
  state: PlanView['state'];
  source: string;
  expires_at: Date;
  decided_by: string | null;
  decided_at: Date | null;
  reason: string | null;
  reminds: boolean;
  ms_left: number;
  changes: number;
  high: number;
}
interface Reminder extends Record<string, unknown> {
  owner_id: string | null;
  team_id: string | null;
  source: PlanSource;
  risk: Risk;
  summary: string;
  expires_at: Date;
}

/** Reminds those who may confirm a plan, once: the same transaction marks the row. */
async function remindOfPlan(services: Services, actionId: string): Promise<void> {
  await inTransaction(serviceContext(services, 'plans'), async (ctx) => {
    const [due] = await run<Reminder>(ctx.db, claimReminderStatement, [actionId]);
    if (due) await notifyStaged(ctx, { ...due, action_id: actionId }, 'plan_reminder');
  });
}

const GONE: PlanView = {
  state: 'gone',
  msLeft: 0,
  reminds: false,
  expiresAt: null,
  source: null,
  changes: 0,
  high: 0,
  decidedBy: null,
  decidedAt: null,
  reason: null,
};

/** Does what a plan's time asks for, its reminder or its end, and returns its state. May be repeated. */
export async function watchPlan(services: Services, actionId: string): Promise<PlanView> {
  const read = () => run<Row>(services.db, viewPlanStatement, [actionId]);
  let [row] = await read();
  if (row?.state === 'staged' && row.ms_left === 0) {
    if (row.reminds) await remindOfPlan(services, actionId);
    await expirePlans(services, actionId);
    [row] = await read();
  }
  if (!row) return GONE;
  const { state, source, reminds, changes, high, reason } = row;
  return {
    state,
    msLeft: state === 'staged' ? row.ms_left : 0,
    reminds: state === 'staged' && reminds,
    expiresAt: row.expires_at.toISOString(),
    source,
    changes,
    high,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at?.toISOString() ?? null,
    reason,
  };
}
