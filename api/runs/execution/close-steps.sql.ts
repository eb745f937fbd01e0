import { GATE } from '../rules.js';

/** Of a request that was under way when its run ended. Its outcome takes the place of this when it comes, if it ever does. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';
const UNKNOWN = JSON.stringify({ code: OUTCOME_UNKNOWN, message: 'The run ended before the answer to this request was known' });

const IS_SENT = `a.status = 'running' and a.due_at is null and a.type <> '${GATE}'`;
const IS_TRIED = `a.status = 'running' and (a.error is not null or a.due_at is null) and a.type <> '${GATE}'`;

/**
 * What the end of a run makes of a step that is not done, as the `set` of an update of run_actions a: what was tried in vain stays
 * failed, a request that is under way may have done its work, everything else never happens. A delay and a gate are not tried.
 */
export const CLOSE_STEP = /* sql */ `
  status = case when ${IS_TRIED} then 'failed' else 'skipped' end,
  error = case when ${IS_SENT} then '${UNKNOWN}'::jsonb else a.error end,
  finished_at = case when ${IS_TRIED} then clock_timestamp() else a.finished_at end`;

/** Which steps are not done; a. */
export const IS_LEFT = /* sql */ `a.status in ('pending', 'running', 'staged')`;
