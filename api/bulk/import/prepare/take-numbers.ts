import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';

/** $1 = team id, $2 = ids in the file. Numbers for as many tasks as are new, and the places of those whose id is in use. */
const statement = defineStatement({
  name: 'take_task_numbers',
  text: /* sql */ `
    with given as materialized (
      select g.place, exists (select from item_keys k where k.item_id = g.id) as is_known
      from unnest($2::text[]) with ordinality as g(id, place)
    )
    select take_task_numbers($1::uuid, (select count(*)::int from given where not is_known)) as numbers,
      array(select g.is_known from given g order by g.place) as known`,
});

/**
 * Takes numbers for tasks in the order of their file. A task whose id is in use gets none: it is probably there from an earlier import; if it is of
 * another team, it gets the next number when it is written.
 */
export async function takeNumbers(
  { db }: Pick<Context, 'db'>,
  teamId: string,
  ids: (string | null)[],
): Promise<(number | null)[]> {
  const [taken] = await run<{ numbers: number[]; known: boolean[] }>(db, statement, [teamId, ids]);
  const { numbers = [], known = [] } = taken ?? {};
  let next = 0;
  return known.map((isKnown) => (isKnown ? null : (numbers[next++] ?? null)));
}
