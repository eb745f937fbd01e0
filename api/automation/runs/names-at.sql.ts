import { defineStatement } from '../../../db/statement.js';

/**
 * $1, $2 = places and item ids in pairs; $3, $4 = places and user ids. A place is a team, or the user of a personal automation, who sees what
 * their teams have. Only what belongs to the place. Cycles, stages and custom fields
 * count as items, and come before tasks, whose ids clients choose; so does a value of a custom field: `<field id> <value>` has its label, or the name of the member.
 */
export const namesOfTeamsStatement = defineStatement({
  name: 'names_of_teams',
  text: /* sql */ `
    select w.place, w.id, found.name
    from unnest($1::uuid[], $2::text[]) as w (place, id)
    cross join lateral (
      select c.name, c.team_id from cycles c
        where c.cycle_id = case when w.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then w.id::uuid end
      union all select s.name, s.team_id from stages s
        where s.stage_id = case when w.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then w.id::uuid end
      union all select f.name, f.team_id from custom_fields f
        where f.field_id = case when w.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then w.id::uuid end
      union all select coalesce(u.display_name, o.value ->> 'label', o.value ->> 'value'), f.team_id
        from custom_fields f
        left join jsonb_array_elements(f.options) o on o.value ->> 'value' = substr(w.id, 38)
        left join memberships m on f.field_type = 'user' and m.team_id = f.team_id and m.user_id::text = substr(w.id, 38)
        left join users u using (user_id)
        where f.field_id = case when w.id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} ' then left(w.id, 36)::uuid end
          and (o.value is not null or m.user_id is not null)
      union all select p.title, p.team_id from item_place p where p.item_id = w.id
      limit 1
    ) found
    where found.team_id = w.place or exists (select from memberships m where m.team_id = found.team_id and m.user_id = w.place)
    union all
    select w.place, u.user_id::text, u.display_name from unnest($3::uuid[], $4::uuid[]) as w (place, user_id) join users u using (user_id)
    where u.user_id = w.place or exists (select from memberships m where m.team_id = w.place and m.user_id = u.user_id)`,
});
