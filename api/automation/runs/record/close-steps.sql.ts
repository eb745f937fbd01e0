import { GATE } from '../../actions/rules.js';

/** Error code of a request that was in flight when its run ended. The real outcome replaces it if it arrives. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';
const UNKNOWN = JSON.stringify({ code: OUTCOME_UNKNOWN, message: 'The run ended before a response arrived' });

const IS_SENT = `a.status = 'running' and a.due_at is null and a.type <> '${GATE}'`;
const IS_TRIED = `a.status = 'running' and (a.error is not null or a.due_at is null) and a.type <> '${GATE}'`;

/**
 * Final status of unfinished steps, as the `set` of an update of run_actions a: steps with a failed attempt stay failed, a
 * request in flight may have taken effect, and everything else is skipped. Delays and gates have no attempts.
 */
export const CLOSE_STEP = /* sql */ `
  status = case when ${IS_TRIED} then 'failed' else 'skipped' end,
  error = case when ${IS_SENT} then '${UNKNOWN}'::jsonb else a.error end,
  finished_at = case when ${IS_TRIED} then clock_timestamp() else a.finished_at end`;

/** SQL condition for unfinished steps; alias a. */
export const IS_LEFT = /* sql */ `a.status in ('pending', 'running', 'staged')`;
