import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { findPlaces, type ItemPlace } from '../../../work/graph/item-place.js';
import { findNamedTasks, parseTaskName } from '../../../work/search/named-tasks.js';
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
/** The address of a page and nothing else: a title may hold one. */
const ADDRESS = /^(?:https?:\/\/[^\s/]+)?\/app\/(?:items|projects)\/([\w.:@-]{1,128})(?:[?#]\S*)?$/;

const fold = (text: string): string => text.trim().toLowerCase();

const idIn = (text: string): string => (ADDRESS.exec(text) ?? SHOWN.exec(text))?.[1] ?? text;

/** Returns how a form shows an item: its title tells it to people, its id to the form. The id alone where the form would read another one. */
export function showItem(title: string, id: string): string {
  const shown = `${withVisibleNames(title).replaceAll(/\s+/gu, ' ')} (${id})`;
  return idIn(shown) === id ? shown : id;
}

const readPlaces = async (ctx: Context, me: User, ids: readonly string[]): Promise<ItemPlace[]> => {
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const known = ids.filter((id) => ID.test(id));
  if (known.length === 0) return [];
  return [...(await findPlaces(ctx, [...new Set(known)])).values()].filter(({ team_id }) => own.has(team_id));
};

/** Returns the present titles of items that the user may read, by id. */
export const readTitles = async (ctx: Context, me: User, ids: readonly string[]): Promise<Map<string, string>> =>
  new Map((await readPlaces(ctx, me, ids)).map(({ item_id, title }) => [item_id, title]));

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

/** Returns the task that people call by a text, HAR-12; undefined if the text is no such name. */
async function findNamed(ctx: Context, teamId: string | null, { text, kind }: Wanted): Promise<Found | undefined> {
  const name = kind === 'projects' ? null : parseTaskName(text);
  if (name === null) return undefined;
  const tasks = (await findNamedTasks(ctx, name)).filter(({ team_id }) => (teamId ?? team_id) === team_id);
  const others = tasks.slice(0, MAX_LISTED).map(({ title, item_id }) => showItem(title, item_id));
  return { id: tasks.length === 1 ? tasks[0]?.item_id : undefined, same: tasks.length, others };
}

/**
 * Finds the items that a form names: by name (HAR-12), address, id, or exactly their title. A title that none has is no guess: what is alike is only
 * named. What another gave a name to must not change what a text means: an id at its end counts beside the present title, or where no title is the text.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function findItems(
  ctx: Context,
  me: User,
  teamId: string | null,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, Found>> {
  const all = await readPlaces(
    ctx,
    me,
    wanted.map(({ text }) => idIn(text)),
  );
  const places = new Map(all.filter(({ team_id }) => (teamId ?? team_id) === team_id).map((place) => [place.item_id, place]));
  const found = new Map<string, Found>();
  let searches = 0;
  for (const one of wanted) {
    const key = `${one.kind} ${one.text}`;
    if (found.has(key)) continue;
    const id = idIn(one.text);
    const place = places.get(id);
    const byId = place && (TYPES[one.kind] ?? place.item_type) === place.item_type ? { id, same: 1, others: [] } : undefined;
    if (byId && (!SHOWN.test(one.text) || one.text === showItem(place?.title ?? '', id)) && parseTaskName(one.text) === null)
      found.set(key, byId);
    else if (searches++ >= MAX_SEARCHES) found.set(key, { id: undefined, same: 0, others: [] });
    else found.set(key, await findWritten(ctx, teamId, one, byId));
  }
  return found;
}

/** Finds what is no plain id. `byId`: what the id in the text means, which counts after names and titles. */
async function findWritten(ctx: Context, teamId: string | null, one: Wanted, byId: Found | undefined): Promise<Found> {
  const named = await findNamed(ctx, teamId, one);
  if (named && named.same > 0) return named;
  const result = await search(ctx, teamId, one);
  if (result.same > 0 || byId) return result.same > 0 ? result : (byId as Found);
  // The id of a task may have any form, and what it names may be in the trash: the action says so.
  const isId = one.kind !== 'projects' && !named && result.others.length === 0 && ID.test(one.text) && /\d/.test(one.text);
  return isId ? { ...result, id: one.text } : result;
}
