import type { Services } from '../../../../platform/context.js';
import { notifyApprovers } from './notify-approvers.js';
import type { GateRole } from '../../../actions/rules.js';
import { lockRun, systemContext } from '../../execution/load-run.js';
import { storedTail } from '../../staging/store-tail.js';

interface DueGate {
  required_role: GateRole;
  message: string | null;
  expires_at: Date;
}

/** Reminds the approvers of a gate once: the same transaction marks the row. */
export async function remindGate(services: Services, runId: string, index: number): Promise<void> {
  await services.db.transaction(async (db) => {
    const run = await lockRun(db, runId);
    if (run?.status !== 'paused') return;
    const place = { run_id: runId, gate_index: index };
    const [gate] = await db('gates')
      .where(place)
      .whereNull('decision')
      .whereNull('reminded_at')
      .whereRaw('remind_at <= clock_timestamp() and expires_at > clock_timestamp()')
      .update({ reminded_at: db.raw('clock_timestamp()') })
      .returning<DueGate[]>(['required_role', 'message', 'expires_at']);
    if (!gate) return;
    const tail = await storedTail({ ...services, db }, run, index);
    const approved = await db('gate_approvals').where(place).pluck<string[]>('user_id');
    await notifyApprovers(systemContext({ ...services, db }, run), run, { ...gate, ...tail }, 'approval_reminder', approved);
  });
  services.notifyRelay();
}
