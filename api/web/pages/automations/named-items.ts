import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { findPlaces, type ItemPlace } from '../../../work/graph/item-place.js';
import { searchItems } from '../../../work/search/search-items.js';

/** What a typed name means: one thing, several of the same name, or none. */
export interface Found {
  id: string | undefined;
  /** How many have exactly this name. */
  same: number;
  /** What may be meant, as it can be typed. */
  others: readonly string[];
}

interface Wanted {
  text: string;
  kind: 'projects' | 'tasks' | 'items';
}

/** Names that one form may look up: each is a search. */
const MAX_SEARCHES = 20;
const MAX_RESULTS = 50;
const MAX_LISTED = 5;
/** Longest words that are searched for. */
const MAX_QUERY = 300;

const ID = /^[\w.:@-]{1,128}$/;
/** An id at the end, as the form shows it: "Fix the crane (01a2…)". */
const SHOWN = /\(([\w.:@-]{1,128})\)$/;
const IN_ADDRESS = /\/app\/(?:items|projects)\/([\w.:@-]{1,128})/;

const fold = (text: string): string => text.trim().toLowerCase();

/** Returns how a form shows an item: its title tells it to people, its id to the form. */
export const showItem = (title: string, id: string): string => `${withVisibleNames(title).replaceAll(/\s+/gu, ' ')} (${id})`;

const readPlaces = async (ctx: Context, me: User, ids: readonly string[]): Promise<ItemPlace[]> => {
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const known = ids.filter((id) => ID.test(id));
  if (known.length === 0) return [];
  return [...(await findPlaces(ctx, [...new Set(known)])).values()].filter(({ team_id }) => own.has(team_id));
};

/** Returns the present titles of items that the user may read, by id. */
export const readTitles = async (ctx: Context, me: User, ids: readonly string[]): Promise<Map<string, string>> =>
  new Map((await readPlaces(ctx, me, ids)).map(({ item_id, title }) => [item_id, title]));

const idIn = (text: string): string => (IN_ADDRESS.exec(text) ?? SHOWN.exec(text))?.[1] ?? text;

const TYPES: Readonly<Record<Wanted['kind'], string | undefined>> = { projects: 'project', tasks: 'task', items: undefined };

async function search(ctx: Context, teamId: string | null, { text, kind }: Wanted): Promise<Found> {
  const query = text
    .slice(0, MAX_QUERY)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  if (query === '') return { id: undefined, same: 0, others: [] };
  const { results } = await searchItems(ctx, { query, limit: MAX_RESULTS });
  const here = results.filter(
    ({ item_type, team_id }) => (TYPES[kind] ?? item_type) === item_type && (teamId ?? team_id) === team_id,
  );
  const same = here.filter(({ title }) => fold(title) === fold(text));
  const listed = (same.length > 0 ? same : here).slice(0, MAX_LISTED).map(({ title, item_id }) => showItem(title, item_id));
  return { id: same.length === 1 ? same[0]?.item_id : undefined, same: same.length, others: listed };
}

/**
 * Finds the items that a form names: by address, by id, or by exactly their title. A title that none has is no guess: what is alike is only named.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function findItems(
  ctx: Context,
  me: User,
  teamId: string | null,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, Found>> {
  const places = new Map(
    (
      await readPlaces(
        ctx,
        me,
        wanted.map(({ text }) => idIn(text)),
      )
    ).map((place) => [place.item_id, place]),
  );
  const found = new Map<string, Found>();
  let searches = 0;
  for (const one of wanted) {
    const key = `${one.kind} ${one.text}`;
    if (found.has(key)) continue;
    const id = idIn(one.text);
    const place = places.get(id);
    if (place && (TYPES[one.kind] ?? place.item_type) === place.item_type) found.set(key, { id, same: 1, others: [] });
    else if (searches++ >= MAX_SEARCHES) found.set(key, { id: undefined, same: 0, others: [] });
    else {
      const result = await search(ctx, teamId, one);
      // The id of a task may have any form, and what it names may be in the trash: the action says so.
      const isId = one.kind !== 'projects' && result.others.length === 0 && ID.test(one.text) && /\d/.test(one.text);
      found.set(key, isId ? { ...result, id: one.text } : result);
    }
  }
  return found;
}
