import { defineStatement, type Statement } from '../../../../db/statement.js';

/** $1 = id, $2 = the writer's version, $3 = current version. Returns the fields changed in between, and the last author. */
const statementFor = (name: string, entityTypes: string, places: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with updates as (
      select a.user_id, a.timestamp, a.details::jsonb as details from audit_entries a
      where a.team_id = (select team_id from ${places} = $1) and a.entity_id = $1 and a.entity_type ${entityTypes} and a.action = 'update'
        and a.feature <> 'custom_fields'
      order by a.timestamp desc limit least($3::int - $2::int, 100)
    ), since as (
      select * from updates where (details->>'version')::int > $2::int
    ), newest as (
      select s.user_id, s.timestamp, u.display_name from since s left join users u using (user_id) order by s.timestamp desc limit 1
    )
    select array(select distinct key from since, jsonb_object_keys(details->'changes') as key order by key) as fields,
      (select user_id from newest) as by, (select display_name from newest) as name,
      (select left(timestamp, 23) || 'Z' from newest) as at`,
  });

export const changesSinceStatement = statementFor('changes_since_version', "= 'task'", 'tasks where task_id');
export const itemChangesSinceStatement = statementFor(
  'item_changes_since_version',
  "in ('project', 'note', 'file', 'whiteboard', 'doc')",
  'item_place where item_id',
);
