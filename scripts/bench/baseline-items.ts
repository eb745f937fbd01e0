/**
 * Statements of the baseline about work items. `caller` is the CTE that finds the caller by the token ($1). The records are the product's, so
 * that both sides send the same bytes.
 */
export const itemStatements = (caller: string, traces: (action: string, event: string, details: string) => string) => ({
  /** $2 = team id, $3 = limit. */
  items: /* sql */ `
with ${caller}, keys as materialized (
  select x.* from caller c join memberships m on m.user_id = c.user_id and m.team_id = $2::uuid cross join lateral (
    (select 1 as kind, t.task_id as id, t.created_at from tasks t where t.team_id = m.team_id and t.deleted_at is null
      order by t.created_at, t.task_id limit $3)
    union all
    (select 2, i.item_id, i.created_at from items i where i.team_id = m.team_id and i.deleted_at is null
      order by i.created_at, i.item_id limit $3)
    union all
    (select 3, p.project_id::text, p.created_at from projects p where p.team_id = m.team_id and p.deleted_at is null
      order by p.created_at, p.project_id limit $3)
  ) x order by x.created_at, x.id limit $3
)
select string_agg(coalesce(t.json, i.json, p.json)::text, ',') as json from keys k
left join lateral (select work_item_json(t.task_id, 'task', t.title, t.description, t.status, t.team_id, t.project_id, f.fields,
  t.created_by, t.created_at, t.updated_at, t.version) as json
  from tasks t left join item_fields f on f.item_id = t.task_id where k.kind = 1 and t.task_id = k.id limit 1) t on true
left join lateral (select work_item_json(i.item_id, i.item_type, i.title, i.description, i.status, i.team_id, i.project_id, i.fields,
  i.created_by, i.created_at, i.updated_at, i.version) as json from items i where k.kind = 2 and i.item_id = k.id limit 1) i on true
left join lateral (select work_item_json(p.project_id::text, 'project', p.name, p.description, p.status, p.team_id, p.project_id, f.fields,
  p.created_by, p.created_at, p.updated_at, p.version) as json
  from projects p left join item_fields f on f.item_id = p.project_id::text where k.kind = 3 and p.project_id::text = k.id limit 1) p on true`,
  /** $2 = project id, $3 = limit, $4 = status. */
  itemsByStatus: /* sql */ `
with ${caller}
select string_agg(x.json::text, ',') as json from caller c join memberships m using (user_id) join projects p using (team_id)
cross join lateral (
  select work_item_json(t.task_id, 'task', t.title, t.description, t.status, t.team_id, t.project_id, f.fields, t.created_by, t.created_at,
    t.updated_at, t.version) as json
  from tasks t left join item_fields f on f.item_id = t.task_id
  where t.project_id = p.project_id and t.status = $4 and t.deleted_at is null order by t.created_at, t.task_id limit $3
) x where p.project_id = $2 and p.deleted_at is null`,
  /** $2 = request id, $3 = project id, $4 = title, $5 = content. */
  note: /* sql */ `
with ${caller}, place as (
  select p.project_id, p.team_id from caller c, projects p join memberships m using (team_id)
  where p.project_id = $3 and p.deleted_at is null and m.user_id = c.user_id and m.role <> 'guest'
), key as (
  insert into item_keys (item_id, item_type) select uuidv7()::text, 'note' from place returning item_id
), made as (
  insert into items (item_id, item_type, team_id, project_id, title, content, kind, created_by)
  select k.item_id, 'note', p.team_id, p.project_id, $4, $5, 'note', c.user_id from key k, place p, caller c
  returning item_id as task_id, title, content, team_id, project_id, kind, created_by, created_at, updated_at, version, to_json(title) as json
), ${traces('create', 'note.created', `jsonb_build_object('title', m.title)`)}
select row_to_json(m)::text as json from made m`,
});
