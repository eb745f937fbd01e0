import { run, type Statement } from '../../../db/statement.js';
import { isAtLeast, SEATS } from '../../core/access.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { conflict } from '../../core/errors.js';
import { enqueue } from '../../core/outbox.js';
import { type HeldGate, holdGate, lapsed } from './hold-gate.js';
import { recordDecision } from './record-decision.js';
import type { Approved } from './schema.js';

/** $1 run. Whether the tail could act at all: it runs as the automation's creator (contract, section 3). */
const creatorStatement: Statement = {
  name: 'gate_creator',
  text: /* sql */ `
    select a.deleted_at is not null as deleted,
      u.status = 'active' and (r.team_id is null or coalesce(m.role <> 'guest', false)) as authorized
    from automation_runs r join automations a using (automation_id) join users u on u.user_id = r.creator_id
    left join memberships m on m.team_id = r.team_id and m.user_id = r.creator_id
    where r.run_id = $1`,
};

/**
 * The compare-and-set (R2). $1 run, $2 gate index, $3 caller, $4 team or null, $5 roles that count. No row: the time ran out.
 * An approval counts once a person, and only while the person still has the role. The last one needed decides.
 */
const approveStatement: Statement = {
  name: 'approve_gate',
  text: /* sql */ `
with open as (
  select g.required_approvals from gates g
  where g.run_id = $1 and g.gate_index = $2 and g.decision is null and g.expires_at > clock_timestamp() for update
), mine as (
  insert into gate_approvals (run_id, gate_index, user_id, approved_at) select $1, $2, $3, clock_timestamp() from open
  on conflict do nothing returning user_id, approved_at
), everyone as (
  select user_id, approved_at from mine
  union all
  select p.user_id, p.approved_at from gate_approvals p where p.run_id = $1 and p.gate_index = $2
), counted as (
  select count(*)::int as approvals from everyone e join users u using (user_id)
  where u.status = 'active' and ($4::uuid is null
    or exists (select from memberships m where m.team_id = $4 and m.user_id = e.user_id and m.role = any($5::text[])))
), decided as (
  update gates g set decision = 'approved', decided_by = $3, decided_at = clock_timestamp()
  from open, counted c where g.run_id = $1 and g.gate_index = $2 and c.approvals >= open.required_approvals
  returning g.decided_at
)
select greatest(open.required_approvals - c.approvals, 0) as needed, exists (select from mine) as is_new,
  coalesce((select decided_at from decided), (select approved_at from everyone where user_id = $3)) as decided_at
from open, counted c`,
};

/** $1 run, $2 gate index: the run goes on, what was staged is released. */
const releaseStatement: Statement = {
  name: 'release_tail',
  text: /* sql */ `
with passed as (
  update run_actions set status = 'succeeded', finished_at = clock_timestamp() where run_id = $1 and index = $2
), released as (
  update run_actions set status = 'pending' where run_id = $1 and index > $2 and status = 'staged'
)
update automation_runs set status = 'running' where run_id = $1`,
};

/** @throws RESOURCE_CONFLICT `creator_not_authorized`, or the automation is gone */
async function checkCreator(ctx: Context, runId: string): Promise<void> {
  const [creator] = await run<{ deleted: boolean; authorized: boolean }>(ctx.db, creatorStatement, [runId]);
  if (creator?.deleted) throw conflict('The automation has been deleted');
  if (creator?.authorized) return;
  throw conflict('The automation’s creator may no longer act in this team, so nothing can run in their name', {
    detail: 'creator_not_authorized',
  });
}

const rolesOf = (gate: HeldGate): string[] => SEATS.filter((seat) => isAtLeast(seat, gate.required_role));

/**
 * Approves the gate that a run waits at. With enough approvals the run goes on in the same commit; the workflow is only woken.
 * The same person again, while more are needed, changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED role, or one's own run where the gate forbids that | APPROVAL_EXPIRED
 * | RESOURCE_CONFLICT already decided, or the creator may no longer act
 * Source: contract, section 3, automation run; decisions F7, F9; durability notes, 3.2.
 */
export function approveGate(ctx: Context, runId: string, gateIndex: number | null): Promise<Approved> {
  return inTransaction(ctx, async (ctx) => {
    const { held, gate } = await holdGate(ctx, runId, 'approved', gateIndex);
    await checkCreator(ctx, runId);
    const userId = userOf(ctx);
    const values = [runId, gate.gate_index, userId, held.team_id, rolesOf(gate)];
    const [approval] = await run<{ needed: number; is_new: boolean; decided_at: Date }>(ctx.db, approveStatement, values);
    if (!approval) throw lapsed(runId, gate);
    const complete = approval.needed === 0;
    if (complete) await run(ctx.db, releaseStatement, [runId, gate.gate_index]);
    if (complete || approval.is_new) {
      await recordDecision(ctx, 'approve', held, gate, { decided: complete, approvals_needed: approval.needed });
      // While more are needed the workflow only reads the gate again, and says how many are missing.
      await enqueue(ctx, 'run.wake', runId, { run_id: runId, incarnation: held.incarnation, gate_index: gate.gate_index });
    }
    return {
      run_id: runId,
      decision: 'approved',
      status: complete ? 'running' : 'paused',
      approvals_needed: approval.needed,
      decided_by: userId,
      decided_at: approval.decided_at.toISOString(),
      gate_index: gate.gate_index,
    };
  });
}
