import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import type { OwnWords } from '../../grammar/sets/own-words.js';

/** Stages and fields that one message may name, of all teams together. */
const MAX_NAMES = 500;

/** $1 = user id, $2 = roles that may list tasks, $3 = team ids or null for all of the user's, $4 = row limit. */
const statement = defineStatement({
  name: 'own_words_of_teams',
  text: /* sql */ `
    with places as materialized (
      select m.team_id from memberships m where m.user_id = $1 and m.role = any($2::text[]) and ($3::uuid[] is null or m.team_id = any($3))
    )
    (select s.name, s.status, null::jsonb as options from places p join stages s using (team_id) order by s.stage_id limit $4)
    union all
    (select f.name, null, f.options from places p join custom_fields f using (team_id) where f.entity_type = 'task' and not f.is_archived order by f.field_id limit $4)`,
});

type Row = {
  name: string;
  status: OwnWords['stages'][number]['status'] | null;
  options: { value: string; label: string }[] | null;
};

/** Finds what the teams of a message name themselves, as far as the user may read it. */
export async function findOwnWords(
  { db }: Pick<Context, 'db'>,
  userId: string,
  teamIds: readonly string[] | null,
): Promise<OwnWords> {
  const rows = await run<Row>(db, statement, [userId, rolesFor('task.list'), teamIds && [...new Set(teamIds)], MAX_NAMES]);
  return {
    stages: rows.flatMap(({ name, status }) => (status === null ? [] : [{ name, status }])),
    choices: rows.flatMap(({ name, options }) => options?.map(({ value, label }) => ({ field: name, value, label })) ?? []),
    fields: rows.flatMap(({ name, status }) => (status === null ? [name] : [])),
  };
}
