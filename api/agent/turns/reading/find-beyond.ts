import { run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { parseTaskName } from '../../../work/search/named-tasks.js';
import { type Beyond, type CoveredTasks, isNamed, type Phrase } from '../../grammar/beyond.js';
import { stem, WordIndex } from '../../grammar/match.js';
import { nearest } from '../../grammar/sets/near.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import type { ReadableLink } from '../../sessions/read-links.js';
import { coveredTasksStatement, endLookUpStatement, findBeyondStatement, lookUpSettingsStatement } from './find-beyond.sql.js';
import { readFacts, toLinkedItem } from './linked-facts.js';

/** Tasks of the linked projects that one message reads. */
const MAX_COVERED = 1_000;
/** Shortest word whose beginning suffices, as that of an ending. */
const MIN_PREFIX = 3;
const LETTERS = /[\p{L}\p{N}]+/gu;
const QUERY_CANCELED = '57014';

type Place = Omit<ReadableLink, 'linked_at' | 'item_type'> & {
  item_type: 'task' | 'project';
  key?: string | null;
  project_title: string | null;
};
type Row = Record<string, unknown> & { is_indexing: boolean; cut: number[] } & (Place | { item_id: null });

/** A word of a name as a query of titles: itself, or a word that it begins. */
const queryOf = (word: string): string[] =>
  (word.match(LETTERS) ?? []).map((part) => `'${part}':${Array.from(part).length >= MIN_PREFIX ? '*' : ''}A`);

/** The query of a name: each of its telling words, as it was said or without its ending. Its hits are more than the name means. */
function toQuery({ words, stems }: Phrase, link: '&' | '|' = '&'): string {
  const telling = words.filter((word) => stems.includes(stem(word)));
  return telling
    .flatMap((word) => {
      const forms = [...new Set([word, stem(word)])].map(queryOf).filter((parts) => parts.length > 0);
      return forms.length === 0 ? [] : [`(${forms.map((parts) => parts.join(' & ')).join(' | ')})`];
    })
    .join(` ${link} `);
}

/** Reads facts of tasks that the user may read, as those of links. */
async function withFacts(ctx: Pick<Context, 'db'>, userId: string, places: readonly Place[]): Promise<LinkedItem[]> {
  const links = places.map((place) => ({ ...place, linked_at: new Date(0) }));
  const facts = await readFacts(
    ctx,
    links.filter(({ item_type }) => item_type === 'task'),
    userId,
  );
  return links.map((link) => ({
    ...toLinkedItem(link, facts.get(link.item_id)),
    isLinked: false as const,
    project_title: link.project_title,
  }));
}

/** Whose items are looked up. */
interface Where {
  userId: string;
  teamIds: readonly string[];
  /** Ids of linked items, which are known already. */
  linked: ReadonlySet<string>;
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as { code?: unknown }).code === QUERY_CANCELED;

/** Runs the look-up in a savepoint of its own; undefined if it took too long. */
async function lookUp(ctx: Pick<Context, 'db'>, values: readonly unknown[]): Promise<Row[] | undefined> {
  try {
    return await ctx.db.transaction(async (db) => {
      const [before] = await run<{ timeout: string }>(db, lookUpSettingsStatement, []);
      const rows = await run<Row>(db, findBeyondStatement, [...values]);
      await run(db, endLookUpStatement, [before?.timeout ?? '10s']);
      return rows;
    });
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
}

/**
 * Looks up names among the tasks and projects of the session's teams, as far as the user may let the agent read there. It asks the index of the
 * search, and what has changed since it was indexed; so a name that means one item means it alone.
 */
export async function findBeyond(
  ctx: Pick<Context, 'db'>,
  { userId, teamIds, linked }: Where,
  beyond: Beyond,
  phrases: readonly Phrase[],
): Promise<void> {
  const queries = phrases.map((phrase) => toQuery(phrase));
  const ids = phrases.flatMap(({ words }) => (words.length === 1 ? words : []));
  const names = ids.flatMap((id) => parseTaskName(id) ?? []);
  const [keys, numbers] = [names.map(({ key }) => key), names.map(({ number }) => number)];
  const rows = await lookUp(ctx, [userId, rolesFor('agent.link'), [...new Set(teamIds)], queries, ids, keys, numbers]);
  if (!rows || rows[0]?.is_indexing) {
    beyond.isPartial = true;
    return;
  }
  const places = rows.filter((row): row is Row & Place => row.item_id !== null && !linked.has(row.item_id));
  const titles = new WordIndex(places);
  const found = phrases.map(({ key, words, stems }, at) => {
    const byId = places.filter(({ item_id: id, key }) => words.length === 1 && isNamed({ id, key: key ?? null }, words[0]));
    const isCut = rows[0]?.cut.includes(at + 1) === true;
    return { key, places: [...new Set([...byId, ...titles.find(words), ...titles.find(stems)])], isCut };
  });
  const items = await withFacts(ctx, userId, [...new Set(found.flatMap((each) => each.places))]);
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const { key, places: meant, isCut } of found)
    beyond.add(
      key,
      meant.flatMap(({ item_id }) => byId.get(item_id) ?? []),
      isCut,
    );
  const none = new Set(found.flatMap(({ key, places, isCut }) => (places.length === 0 && !isCut ? [key] : [])));
  await findNear(
    ctx,
    { userId, teamIds, linked },
    beyond,
    phrases.filter(({ key, stems }) => none.has(key) && stems.length > 1),
  );
}

/** Looks up items with some of the words of names that no item has. What is not found in time is not offered. */
async function findNear(
  ctx: Pick<Context, 'db'>,
  { userId, teamIds, linked }: Where,
  beyond: Beyond,
  phrases: readonly Phrase[],
): Promise<void> {
  if (phrases.length === 0) return;
  const queries = phrases.map((phrase) => toQuery(phrase, '|'));
  const rows = (await lookUp(ctx, [userId, rolesFor('agent.link'), [...new Set(teamIds)], queries, [], [], []])) ?? [];
  const places = rows.filter((row): row is Row & Place => row.item_id !== null && !linked.has(row.item_id));
  const ranked = phrases.map(({ key, stems }) => ({ key, near: nearest(places, stems).tasks }));
  const items = await withFacts(ctx, userId, [...new Set(ranked.flatMap(({ near }) => near))]);
  for (const { key, near } of ranked)
    beyond.addNear(
      key,
      items.filter(({ id }) => near.some(({ item_id }) => item_id === id)),
    );
}

/** Reads the tasks of the linked projects that are not linked themselves, the newest thousand. */
export async function findCovered(
  ctx: Pick<Context, 'db'>,
  userId: string,
  links: readonly ReadableLink[],
): Promise<CoveredTasks> {
  const projects = links.flatMap(({ item_type, item_id }) => (item_type === 'project' ? [item_id] : []));
  if (projects.length === 0) return { items: [], isCut: false };
  const values = [userId, rolesFor('agent.link'), projects, MAX_COVERED + 1];
  const rows = await run<Place & Record<string, unknown>>(ctx.db, coveredTasksStatement, values);
  const linked = new Set(links.map(({ item_id }) => item_id));
  const places = rows.slice(0, MAX_COVERED).filter(({ item_id }) => !linked.has(item_id));
  return { items: await withFacts(ctx, userId, places), isCut: rows.length > MAX_COVERED };
}
