import type { Invariant } from './invariant.js';

/** What must hold of custom fields and saved views. */
export const fieldInvariants: readonly Invariant[] = [
  {
    name: 'documents_true',
    words: 'The document of an item has its values, no other and none fewer',
    sql: /* sql */ `
      select format('item %s: %s, its values are %s', entity_id, coalesce(d.members, 'no document'), v.members) as violation
      from custom_field_documents d full join (
        select v.entity_id, string_agg('"' || v.key || '":' || custom_field_json(v), ',' order by v.key) as members
        from custom_field_values v group by v.entity_id
      ) v using (entity_id)
      where coalesce(d.members, '') <> coalesce(v.members, '')`,
  },
  {
    name: 'values_of_their_team',
    words: 'A value belongs to the team of its item',
    sql: /* sql */ `
      select format('item %s of team %s has a value of team %s', i.item_id, i.team_id, v.team_id) as violation
      from custom_field_values v join item_place i on i.item_id = v.entity_id where i.team_id <> v.team_id`,
  },
  {
    name: 'views_of_members',
    words: 'A view of a team belongs to a member of it',
    sql: /* sql */ `
      select format('view %s of team %s', v.view_id, v.team_id) as violation from saved_views v
      where v.team_id is not null and not exists (
        select from memberships m where m.team_id = v.team_id and m.user_id = v.owner_id)`,
  },
];

/** Every acknowledged value and view. $1 = the ledger (jsonb). */
export const acknowledgedFields: readonly Invariant[] = [
  {
    name: 'acked_values_kept',
    words: 'Every acknowledged value is there, as it was set last',
    sql: /* sql */ `
      select format('item %s has %s, acknowledged was %s', a.entity_id, coalesce(v.value_number::text, 'nothing'), coalesce(a.value::text, 'nothing'))
        as violation
      from jsonb_to_recordset($1::jsonb->'values') as a(field_id uuid, entity_id text, value float8)
      left join custom_field_values v using (field_id, entity_id) where v.value_number is distinct from a.value`,
  },
  {
    name: 'acked_views_kept',
    words: 'Every acknowledged view is there under its last name, or was deleted',
    sql: /* sql */ `
      select format('view %s is %s', a.view_id, coalesce(v.name, 'gone')) as violation
      from jsonb_to_recordset($1::jsonb->'views') as a(view_id uuid, name text, deleted boolean)
      left join saved_views v using (view_id)
      where a.deleted and v.view_id is not null or not a.deleted and v.name is distinct from a.name`,
  },
];
