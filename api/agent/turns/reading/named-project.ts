import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { readDate } from '../../../platform/written-days.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import { findPriority, findState } from '../../grammar/words.js';

/** Words of a message behind which the name of a project may stand, and longest name in words. */
const BEFORE = /(?<![\p{L}\p{N}])(?:in|into|to|of|from|for|on|under|project)\s+(?=\S)/giu;
const MAX_WORDS = 6;
/** Names that one message may mean, and the beginning of a message in which they are looked for. */
const MAX_NAMES = 120;
const MAX_READ = 2_000;
const ANY_DAY = '2026-01-01';

/** $1 = user id, $2 = roles that may let the agent read, $3 = names in lower case. Two at most: then it is not certain which one is meant. */
const statement = defineStatement({
  name: 'project_by_name',
  text: /* sql */ `
    select p.project_id::text as id, p.name as title, p.status, p.team_id, p.project_id::text as project_id
    from memberships m join projects p on p.team_id = m.team_id
    where m.user_id = $1 and m.role = any($2::text[]) and p.deleted_at is null and p.status = 'active' and lower(p.name) = any($3::text[])
    order by length(p.name) desc, p.project_id limit 2`,
});

/** Whether words mean something in a sentence already: a day, a state or a priority. */
const hasMeaning = (words: readonly string[]): boolean =>
  readDate(words, ANY_DAY) !== undefined || findState(words) !== undefined || findPriority(words) !== undefined;

/** What may be the name of a project: up to six words behind “in”, “of” and the like, in lower case. */
function candidatesIn(message: string): string[] {
  const text = message.slice(0, MAX_READ);
  const found = [...text.matchAll(BEFORE)].flatMap(({ index, 0: before }) => {
    const words = text
      .slice(index + before.length)
      .replace(/^the\s+(?:project\s+)?/i, '')
      .split(/\s+/)
      .slice(0, MAX_WORDS);
    const names = words
      .map((_word, at) => words.slice(0, at + 1).join(' '))
      .flatMap((name) => [name, name.replace(/\s+project$/i, '')]);
    return names.map((name) => name.replaceAll(/^["'“”„‘]+|["'“”’.,:;!?]+$/g, '').toLowerCase());
  });
  return [...new Set(found)].filter((name) => name !== '' && !hasMeaning(name.split(' '))).slice(0, MAX_NAMES);
}

/** The one active project of the user's teams that a message names as a whole, and in which the user may let the agent read; undefined for none, or several. */
export async function findNamedProject(
  { db }: Pick<Context, 'db'>,
  userId: string,
  message: string,
): Promise<LinkedItem | undefined> {
  const names = candidatesIn(message);
  if (names.length === 0) return undefined;
  const rows = await run<Omit<LinkedItem, 'type'> & Record<string, unknown>>(db, statement, [
    userId,
    rolesFor('agent.link'),
    names,
  ]);
  const [project, other] = rows;
  // “in Mobile app” is not about the project “Mobile”.
  const isSure = other === undefined || project?.title.toLowerCase().startsWith(`${other.title.toLowerCase()} `);
  return project && isSure ? { ...project, type: 'project', isLinked: false } : undefined;
}
