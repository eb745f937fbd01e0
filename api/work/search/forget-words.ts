import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';
import { NO_ID } from '../../platform/fields.js';

/** Words of one statement. */
const BATCH = 1_000;

/** $1 and $2 = team id and word to start after, $3 = maximum words. Returns the last of them, and how many no document of their team holds. */
const statement = defineStatement({
  name: 'search_forget_words',
  text: /* sql */ `
    with seen as (
      select w.team_id, w.word from search_team_words w where (w.team_id, w.word) > ($1::uuid, $2) order by w.team_id, w.word limit $3
    ), gone as (
      delete from search_team_words w using seen
      where w.team_id = seen.team_id and w.word = seen.word
        and not exists (select from search_documents d where d.team_id = seen.team_id and d.tsv @@ phraseto_tsquery('assent', seen.word))
      returning 1
    )
    select seen.team_id, seen.word, (select count(*)::int from gone) as forgotten
    from seen order by seen.team_id desc, seen.word desc limit 1`,
});

interface DeletedWord extends Record<string, unknown> {
  team_id: string;
  word: string;
  forgotten: number;
}

/** Deletes the words of titles that no document of their team holds any more. Safe to call at any time. Returns their number. */
export async function forgetWords(db: Knex): Promise<number> {
  let total = 0;
  for (let after = [NO_ID, '']; ; ) {
    const rows: DeletedWord[] = await run<DeletedWord>(db, statement, [...after, BATCH]);
    const last = rows[0];
    if (!last) return total;
    total += last.forgotten;
    after = [last.team_id, last.word];
  }
}
