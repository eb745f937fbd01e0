import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { fold } from '../../grammar/fold.js';
import { type Member, PeopleIndex } from '../../grammar/people.js';

/** Members that one message may name. */
const MAX_MEMBERS = 200;
/** Different words of a message that may be a name. */
const MAX_WORDS = 500;

/**
 * $1 = user id, $2 = team ids or null for all of the user's, $3 = lower-case words, $4 = row limit. Active members of the user's teams one of
 * whose names has one of the words.
 */
const statement = defineStatement({
  name: 'members_named',
  text: /* sql */ `
    select m.team_id, u.user_id, array[u.username, u.display_name, u.name] as names
    from memberships own join memberships m on m.team_id = own.team_id join users u on u.user_id = m.user_id
    where own.user_id = $1 and ($2::uuid[] is null or own.team_id = any($2)) and u.status = 'active'
      and (lower(u.username) = any($3::text[]) or string_to_array(lower(normalize(u.display_name, nfkc)), ' ') && $3
        or string_to_array(lower(normalize(u.name, nfkc)), ' ') && $3)
    order by m.team_id, u.username limit $4`,
});

const SEPARATORS = /[^\p{L}\p{N}\p{M}_.@'-]+/u;
const AROUND = ".@'-";
/** Drops marks around a word, and the `'s` of a possessive. */
function bareWord(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && AROUND.includes(word.charAt(start))) start += 1;
  while (end > start && AROUND.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(start, word.endsWith("'s", end) ? Math.max(start, end - 2) : end);
}

/** Words of a message that may be names. */
const wordsIn = (message: string): string[] =>
  [...new Set(fold(message).text.replaceAll('’', "'").split(SEPARATORS).map(bareWord))]
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS);

/** Finds the members that a message may name, in the teams given or in all of the user's. */
export async function findMembers(
  { db }: Pick<Context, 'db'>,
  userId: string,
  teamIds: readonly string[] | null,
  message: string,
): Promise<PeopleIndex> {
  const values = [userId, teamIds && [...new Set(teamIds)], wordsIn(message), MAX_MEMBERS];
  return new PeopleIndex(await run<Member & Record<string, unknown>>(db, statement, values));
}
