import { defineStatement } from '../../../db/statement.js';
import { FOUND_RECORD, recordsById } from './work-item.sql.js';

/** $1 = item id, $2 = caller id. Always one row; `json` is null if there is no live item. */
export const getWorkItemStatement = defineStatement({
  name: 'get_work_item',
  text: /* sql */ `
    select ${FOUND_RECORD}::text as json, coalesce(task.version, project.version, item.version) as version,
      item.item_type, item.content, item.kind, seat.role as seat
    from (select $1::text as item_id) wanted ${recordsById('wanted.item_id', null)}
    left join lateral (
      select m.role from memberships m
      where m.team_id = coalesce(task.team_id, project.team_id, item.team_id) and m.user_id = $2
    ) seat on true`,
});
