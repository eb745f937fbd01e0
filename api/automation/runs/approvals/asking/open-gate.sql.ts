import { defineStatement } from '../../../../../db/statement.js';

/**
 * $1 = run id, $2 = gate index, $3 = role, $4 = approvals, $5 = whether one may approve one's own run, $6 = whether only a signed-in person decides,
 * $7 = whether it asks again, $8 = message or null, $9 = seconds to the expiry, $10 = seconds to the reminder or null.
 */
export const openGateStatement = defineStatement({
  name: 'open_gate',
  text: /* sql */ `
    insert into gates (run_id, gate_index, required_role, required_approvals, allow_self_approval, signed_in, asks_again, message,
      expires_at, remind_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9), now() + make_interval(secs => $10))
    on conflict do nothing returning required_role, required_approvals, message, expires_at`,
});

/** $1 = run id, $2 = gate index. */
export const pauseRunStatement = defineStatement({
  name: 'pause_run',
  text: /* sql */ `
    update automation_runs set status = 'paused',
      gate_expires_at = (select expires_at from gates where run_id = $1 and gate_index = $2)
    where run_id = $1`,
});

/** $1 = run id, $2 = gate index. */
export const stageStepsStatement = defineStatement({
  name: 'stage_steps',
  text: "update run_actions set status = 'staged' where run_id = $1 and index > $2 and status = 'pending'",
});
