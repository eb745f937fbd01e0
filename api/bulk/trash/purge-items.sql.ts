import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = caller (jsonb), $2 = cause, $3 = item ids. Writes one audit entry per deletion that moved some of these items; it names one of them,
 * lists the ids of the others and counts all. The rows still exist.
 */
export const recordItemPurgeStatement = defineStatement({
  name: 'record_item_purge',
  text: /* sql */ `
    with roots as (
      select distinct on (i.cascade_id) i.*, count(*) over (partition by i.cascade_id) as purged_count,
        array_agg(i.item_id) over (partition by i.cascade_id) as item_ids
      from items i where i.item_id = any($3) order by i.cascade_id, i.created_at, i.item_id
    )
    select record_changes($1::jsonb, array_agg(make_change(team_id => team_id, project_id => project_id, severity => 'MEDIUM',
      feature => case item_type when 'note' then 'notes' when 'file' then 'files' else 'work_graph' end, action => 'purge',
      entity_type => item_type, entity_id => item_id, title => title,
      summary => case when $2::text <> 'retention' then 'purged the ' || item_type end,
      details => jsonb_build_object('cause', $2::text, 'title', title, 'cascade_id', cascade_id, 'purged_count', purged_count,
        'item_ids', array_remove(item_ids, item_id)))))
    from roots`,
});
