import { defineStatement } from '../../../db/statement.js';

/** Maximum bytes of a value that a list shows. */
const MAX_VALUE_BYTES = 2_000;

/**
 * $1 = run ids, $2 = paths in their events. Reads each event once. Of a large value only the beginning: events can be large.
 */
export const quotedStatement = defineStatement({
  name: 'quoted_from_events',
  text: /* sql */ `
    select w.run_id, p.path,
      case when q.size <= ${MAX_VALUE_BYTES} then q.value else to_jsonb(left(q.value #>> '{}', ${MAX_VALUE_BYTES} / 4)) end as value
    from unnest($1::uuid[]) as w (run_id)
    -- The concatenation copies the event into memory, from which every path is taken.
    cross join lateral (select r.event || '{}' as event from automation_runs r where r.run_id = w.run_id offset 0) e
    cross join unnest($2::text[]) as p (path)
    cross join lateral (
      select v.value, octet_length(v.value::text) as size from (select e.event #> string_to_array(p.path, '.') as value) v offset 0
    ) q
    where q.value is not null`,
});
