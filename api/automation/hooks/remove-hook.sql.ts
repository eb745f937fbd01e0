import { defineStatement } from '../../../db/statement.js';

/** $1 = automation id. Removes its address, with the keys of its calls. */
export const removeHookStatement = defineStatement({
  name: 'remove_automation_hook',
  text: 'delete from automation_hooks where automation_id = $1 returning hook_id',
});
