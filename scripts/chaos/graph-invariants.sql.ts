import type { Invariant } from './invariant.js';

/** What must hold of the work graph and its index. */
export const graphInvariants: readonly Invariant[] = [
  {
    name: 'edges_end',
    words: 'No item contains or blocks itself, directly or through others',
    sql: /* sql */ `
      with recursive edge as (
        select kind, from_id, to_id from relations where kind in ('contains', 'blocks')
        union select 'contains', parent_task_id, task_id from tasks where parent_task_id is not null
      ), reach as (
        select kind, from_id as start, to_id as item_id from edge
        union select r.kind, r.start, e.to_id from reach r join edge e on e.kind = r.kind and e.from_id = r.item_id
      )
      select format('item %s %s itself', start, kind) as violation from reach where start = item_id`,
  },
  {
    name: 'edges_have_ends',
    words: 'Both ends of every relation exist, in the teams that the relation names',
    sql: /* sql */ `
      select format('relation %s: %s of team %s', r.relation_id, e.item_id, e.team_id) as violation
      from relations r cross join lateral (values (r.from_id, r.from_team_id), (r.to_id, r.to_team_id)) e (item_id, team_id)
      where not exists (select from item_place p where p.item_id = e.item_id and p.team_id = e.team_id)`,
  },
  {
    name: 'items_keyed',
    words: 'Every item has its id in the table of all ids, under its type',
    sql: /* sql */ `
      select format('%s %s has the key of a %s', p.item_type, p.item_id, coalesce(k.item_type, 'missing item')) as violation
      from item_place p left join item_keys k on k.item_id = p.item_id where k.item_type is distinct from p.item_type
      union all
      select format('the key of %s %s has no item', k.item_type, k.item_id) from item_keys k
      where not exists (select from item_place p where p.item_id = k.item_id)`,
  },
  {
    name: 'items_indexed',
    words: 'Search knows every live item by its title and no other item, or a mark says that it must be indexed',
    sql: /* sql */ `
      select format('%s %s is searched as “%s”', p.item_type, p.item_id, d.title) as violation
      from item_place p left join search_documents d using (item_id)
      where p.deleted_at is null and d.title is distinct from p.title
        and not exists (select from search_dirty m where m.item_id = p.item_id)
      union all
      select format('the document of %s has no live item', d.item_id) from search_documents d
      where not exists (select from item_place p where p.item_id = d.item_id and p.deleted_at is null)
        and not exists (select from search_dirty m where m.item_id = d.item_id)`,
  },
  {
    name: 'marks_indexed',
    words: 'Nothing has been waiting to be indexed for more than 60 s',
    sql: /* sql */ `
      select format('item %s of team %s, marked at %s', item_id, team_id, marked_at) as violation from search_dirty
      where marked_at < clock_timestamp() - interval '60 seconds' and exists (select from heartbeats)`,
  },
];

/** Every acknowledged note and relation. $1 = the ledger (jsonb). */
export const acknowledgedGraph: readonly Invariant[] = [
  {
    name: 'acked_notes_kept',
    words: 'Every acknowledged note is there once, with the text that was acknowledged last',
    sql: /* sql */ `
      select format('note %s: %s rows, “%s”', a.note_id, count(i.item_id), max(i.content)) as violation
      from jsonb_to_recordset($1::jsonb->'notes') as a(note_id text, title text, content text)
      left join items i on i.title = a.title
      group by a.note_id, a.content
      having count(i.item_id) <> 1 or max(i.item_id) <> a.note_id or max(i.content) is distinct from a.content`,
  },
  {
    name: 'acked_relations_kept',
    words: 'Every acknowledged relation is there, once',
    sql: /* sql */ `
      select format('relation %s: %s rows', a.relation_id, count(r.relation_id)) as violation
      from jsonb_to_recordset($1::jsonb->'relations') as a(relation_id uuid, source_id text, target_id text)
      left join relations r on (r.source_id, r.target_id) = (a.source_id, a.target_id)
      group by a.relation_id having count(r.relation_id) <> 1`,
  },
];
