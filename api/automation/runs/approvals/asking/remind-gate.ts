import { defineStatement, run as sql } from '../../../../../db/statement.js';
import type { Services } from '../../../../platform/context.js';
import { notifyApprovers } from './notify-approvers.js';
import type { GateRole } from '../../../actions/rules.js';
import { lockRun, systemContext } from '../../execution/load-run.js';
import { storedTail } from '../../staging/store-tail.js';

interface DueGate extends Record<string, unknown> {
  required_role: GateRole;
  message: string | null;
  expires_at: Date;
}

/** $1 = run id, $2 = gate index. */
const remindStatement = defineStatement({
  name: 'remind_gate',
  text: /* sql */ `
    update gates set reminded_at = clock_timestamp()
    where run_id = $1 and gate_index = $2 and decision is null and reminded_at is null
      and remind_at <= clock_timestamp() and expires_at > clock_timestamp()
    returning required_role, message, expires_at`,
});

/** $1 = run id, $2 = gate index. */
const approversStatement = defineStatement({
  name: 'approvers_of_gate',
  text: 'select user_id from gate_approvals where run_id = $1 and gate_index = $2',
});

/** Reminds the approvers of a gate once: the same transaction marks the row. */
export async function remindGate(services: Services, runId: string, index: number): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    if (run?.status !== 'paused') return;
    const [gate] = await sql<DueGate>(db, remindStatement, [runId, index]);
    if (!gate) return;
    const tail = await storedTail({ ...services, db }, run, index);
    const approved = (await sql<{ user_id: string }>(db, approversStatement, [runId, index])).map(({ user_id }) => user_id);
    await notifyApprovers(systemContext({ ...services, db }, run), run, { ...gate, ...tail }, 'approval_reminder', approved);
  });
  services.notifyRelay();
}
