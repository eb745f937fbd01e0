import { defineStatement } from '../../../../db/statement.js';

/** $1 = cycle id, $2 = snapshot (jsonb), $3 = correlation id. */
export const completeCycleStatement = defineStatement({
  name: 'complete_cycle',
  text: /* sql */ `
    update cycles set status = 'completed', completed_at = now(), updated_at = now(), snapshot = $2::jsonb, correlation_id = $3
    where cycle_id = $1 and status = 'active'`,
});
