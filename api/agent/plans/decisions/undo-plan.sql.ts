import { defineStatement } from '../../../../db/statement.js';

/** $1 = plan id. Returns what its confirmation did, and the plan that takes it back already. */
export const appliedActionsStatement = defineStatement({
  name: 'applied_actions',
  text: /* sql */ `
    select a.index, a.result, a.made_id, a.version_after,
      (select u.action_id from agent_plans u where u.undo_of = a.action_id and u.status in ('staged', 'applied')) as undone_by
    from agent_actions a where a.action_id = $1 order by a.index`,
});
