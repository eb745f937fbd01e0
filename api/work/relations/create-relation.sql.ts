import { defineStatement } from '../../../db/statement.js';
import { eventType, kindOfChange } from '../../platform/changes/make-change.sql.js';

/**
 * $1 = item ids, $2 = caller id. Returns each live item with the caller's role in its team. In a transaction the memberships are locked, so the
 * roles last until the commit.
 */
export const endsStatement = defineStatement({
  name: 'relation_ends',
  text: /* sql */ `
    select found.item_id, found.item_type, found.title, found.status, found.team_id, found.project_id, seat.role as seat
    from unnest($1::text[]) as wanted(item_id)
    cross join lateral (select * from item_place p where p.item_id = wanted.item_id and p.deleted_at is null limit 1) found
    left join lateral (select m.role from memberships m where m.team_id = found.team_id and m.user_id = $2 for share) seat on true`,
});

/** $1 = item ids. In id order, which prevents deadlocks. */
export const lockEndsStatement = defineStatement({
  name: 'lock_item_keys',
  text: 'select item_id from item_keys where item_id = any($1) order by item_id for no key update',
});

const edgesBySide = (item: string, itemTeam: string): string => /* sql */ `(
      select count(*)::int from (
        select r.team_id from relations r where r.from_id = ${item}
        union all
        select r.team_id from relations r where r.to_id = ${item}
      ) e where (e.team_id = ${itemTeam}) = ($4::uuid = ${itemTeam})
    )`;

/**
 * $1 = canonical kind, $2 = from, $3 = to, $4 = team of the writer, $5 = team of the first end, $6 = team of the second. Returns the stored edge, if there is one,
 * and how many edges the writer's side has at each end.
 */
export const edgeStateStatement = defineStatement({
  name: 'edge_state',
  text: /* sql */ `
    select (select row_to_json(r) from relations r where r.kind = $1 and r.from_id = $2 and r.to_id = $3) as stored,
      (select row_to_json(t) from (
        select t.task_id, t.recurrence_of, t.parent_task_id, t.created_by, t.created_at from tasks t
        where $1 = 'recurs' and t.task_id = $2 and t.recurrence_of = $3 and t.deleted_at is null
      ) t) as derived,
      ${edgesBySide('$2', '$5::uuid')} as at_from, ${edgesBySide('$3', '$6::uuid')} as at_to`,
});

/**
 * $1 = caller (jsonb), $2 = the edge (jsonb), $3 = project of the source, $4 = title of the source. Stores an edge with its trace. The trace never
 * names the target, which the source's team may not be able to read.
 */
export const storeEdgeStatement = defineStatement({
  name: 'store_edge',
  text: /* sql */ `
    with made as (
      insert into relations (relation_id, relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id,
        created_by)
      select e.relation_id, e.relation_type, e.source_id, e.target_id, e.kind, e.from_id, e.to_id, e.from_team_id, e.to_team_id, e.team_id,
        ($1::jsonb->>'user_id')::uuid
      from jsonb_to_record($2::jsonb) as e(relation_id uuid, relation_type text, source_id text, target_id text, kind text, from_id text,
        to_id text, from_team_id uuid, to_team_id uuid, team_id uuid)
      returning *
    ), shown as (
      select m.*, jsonb_build_object('relation_id', m.relation_id, 'source_id', m.source_id, 'target_id', m.target_id, 'relation_type',
        m.relation_type, 'created_by', m.created_by, 'created_at',
        to_char(m.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as json from made m
    )
    select s.json, record_changes($1::jsonb, array[make_change(team_id => s.team_id, project_id => $3::uuid,
      ${kindOfChange({ feature: 'work_graph', action: 'create', entityType: 'relation' })}, entity_id => s.relation_id::text, title => $4::text,
      summary => 'added a ' || s.relation_type || ' relation',
      details => jsonb_build_object('source_id', s.source_id, 'target_id', s.target_id, 'relation_type', s.relation_type),
      event_type => ${eventType('relation.created')}, payload => jsonb_build_object('relation', s.json))]) as audit_id
    from shown s`,
});
