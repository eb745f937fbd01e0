import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { findPlaces, type ItemType } from '../../../work/graph/item-place.js';
import { findNamedTasks, parseTaskName, type TaskName } from '../../../work/search/named-tasks.js';
import { type Sought, suggestItems } from '../../../work/search/suggest-items.js';
import { findTaskNumbers } from '../../../work/tasks/read/find-task-numbers.js';
import { createFormatter } from '../../wording/formatter.js';

/** An item that a typed name can mean. `label`: its number and title, which name it when they are sent. */
export interface RelationChoice {
  item_id: string;
  label: string;
  about: string;
}

type Found = { item_id: string; item_type: ItemType; title: string; project_name: string | null };

async function toChoices(ctx: Context, me: User, found: readonly Found[]): Promise<RelationChoice[]> {
  const { taskName } = createFormatter(me);
  const numbers = await findTaskNumbers(
    ctx,
    found.flatMap(({ item_id, item_type }) => (item_type === 'task' ? [item_id] : [])),
  );
  return found.map(({ item_id, title, item_type, project_name }) => ({
    item_id,
    label: [numbers[item_id] && taskName(numbers[item_id]), title].filter(Boolean).join(' '),
    about: project_name ? `${item_type} · ${project_name}` : item_type,
  }));
}

/** Suggests items that a text can mean, with what names each. @throws INTERNAL_ERROR 503 after one second of searching */
export async function suggestTargets(ctx: Context, me: User, text: string, sought: Sought): Promise<RelationChoice[]> {
  return toChoices(ctx, me, await suggestItems(ctx, text, sought));
}

/** Returns what the address of an item's page names; undefined for other texts. */
function idInAddress(text: string): string | undefined {
  const [, part] = /\/app\/(?:(?:items|projects|tasks)\/)?([^/?#\s]+)/.exec(text) ?? [];
  try {
    return part && decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Reads `HAR-12`, alone or before the title of the task. */
function readName(text: string): { name: TaskName; title?: string } | undefined {
  const [, first = '', title] = /^(\S+)(?:\s+(.*))?$/s.exec(text) ?? [];
  const name = parseTaskName(first);
  return name === null ? undefined : { name, ...(title !== undefined && { title }) };
}

/** Finds tasks that the text calls by their number. With a title, it is theirs, too: otherwise the text is words that are searched for. */
async function findByName(ctx: Context, text: string): Promise<Found[]> {
  const named = readName(text);
  if (!named) return [];
  const found = (await findNamedTasks(ctx, named.name)).filter(({ title }) => named.title === undefined || title === named.title);
  return found.map((one) => ({ ...one, item_type: 'task' as const }));
}

/**
 * Finds the item that a user named by its number, its address, its id or words of its title. Several matches come back as choices.
 * @param field that of the form, which an error names
 * @throws VALIDATION_ERROR without a match | INTERNAL_ERROR 503 after one second of searching
 */
export async function findRelationTarget(
  ctx: Context,
  me: User,
  { field, text, sought }: { field: string; text: string; sought: Sought },
): Promise<string | RelationChoice[]> {
  const id = idInAddress(text) ?? text;
  // Whether the caller may read it, the operation says.
  if (/^[\w.:@-]{1,128}$/.test(id) && (await findPlaces(ctx, [id])).has(id)) return id;
  const named = await findByName(ctx, id);
  const found: Found[] = named.length > 0 ? named : await suggestItems(ctx, text, sought);
  const same = found.filter(({ title }) => title.toLowerCase() === text.toLowerCase());
  const [only] = same.length === 1 ? same : found.length === 1 ? found : [];
  if (only) return only.item_id;
  const what = sought.type ?? 'item';
  if (found.length === 0) throw invalidFields([{ field, message: `No ${what} matches “${text}”`, type: 'custom' }]);
  return toChoices(ctx, me, found);
}
