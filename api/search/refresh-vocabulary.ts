import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';

/** Titles read by one refresh; of more documents a sample is read. */
const MAX_TITLES = 200_000;
/** Maximum words; the most frequent stay. */
const MAX_WORDS = 200_000;

/** $1 = maximum titles, $2 = maximum words. */
const refreshStatement: Statement = {
  name: 'search_refresh_vocabulary',
  text: 'select search_refresh_vocabulary($1::int, $2::int) as words',
};

/** True while few documents exist and they have doubled since the last refresh. Counts no further than it must. */
const dueStatement: Statement = {
  name: 'search_vocabulary_due',
  text: /* sql */ `
    select case when s.documents < 10000 and s.refreshed_at < now() - interval '10 seconds' then (
      select count(*) >= greatest(1, 2 * s.documents) from (select from search_documents limit greatest(1, 2 * s.documents)) d
    ) else false end as due
    from search_vocabulary_state s`,
};

/** Reads the words of titles anew, for typos. Safe to call at any time and concurrently. Returns the number of words. */
export async function refreshVocabulary(db: Knex): Promise<number> {
  const [row] = await run<{ words: number }>(db, refreshStatement, [MAX_TITLES, MAX_WORDS]);
  return row?.words ?? 0;
}

/** Refreshes the vocabulary of a young installation, which cannot wait for the nightly job. */
export async function refreshYoungVocabulary(db: Knex): Promise<void> {
  const [row] = await run<{ due: boolean }>(db, dueStatement, []);
  if (row?.due) await refreshVocabulary(db);
}
