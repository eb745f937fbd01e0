import type { LinkedWorld, ReadItem } from '../reading/read-linked-items.js';
import { cutText, dataJson } from './fence.js';
import type { Handles } from './handles.js';

/** Lengths in a prompt, characters. */
const TITLE_LENGTH = 200;
export const BODY_LENGTH = 1_500;
export const COMMENT_LENGTH = 300;
export const COMMENTS = 5;
const NAME_LENGTH = 60;
/** A rest of a text shorter than this says nothing. */
const MIN_BODY = 80;

interface Entry {
  item: ReadItem;
  shown: Record<string, unknown>;
}

/** Bytes that are left for texts. */
class Budget {
  constructor(private left: number) {}

  take(value: unknown): boolean {
    const bytes = Buffer.byteLength(dataJson(value)) + 20;
    if (bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }

  /** Returns how many characters fit at least. */
  get characters(): number {
    return Math.max(0, Math.floor((this.left - 40) / 3));
  }
}

/** Returns only the fields that say something. */
const compact = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== false && value !== ''),
  );

/** Returns a name as a model reads it. */
const shownName = (name: string): string => cutText(name, NAME_LENGTH).text;

/** Returns what every prompt says of an item. */
export function describeHead(item: ReadItem, handles: Handles): Record<string, unknown> {
  const { item_type, title, status, priority, due_date, assigned_to, project_id, project_name, by_status } = item;
  const place = item_type !== 'project' && project_id !== null && project_name !== null;
  return compact({
    handle: handles.of(item_type, item.item_id),
    type: item_type,
    title: cutText(title, TITLE_LENGTH).text,
    status,
    priority,
    due: due_date,
    assignee: assigned_to && handles.of('user', assigned_to),
    archived: item.is_archived === true,
    parent: item.parent_task_id && handles.findItem(item.parent_task_id),
    tags: item.tags?.length ? item.tags.map((tag) => shownName(tag)) : null,
    project: place && { handle: handles.of('project', project_id, false), name: shownName(project_name) },
    starts: item.start_date,
    ends: item.end_date,
    tasks_by_status: by_status,
    updated: item.updated_at.toISOString().slice(0, 10),
  });
}

/** Adds the body of an item as far as the budget allows. */
function addBody({ item, shown }: Entry, budget: Budget): void {
  if (item.body === null) return;
  const whole = cutText(item.body, BODY_LENGTH);
  if (whole.text === '') return;
  const name = item.item_type === 'note' ? 'content' : 'description';
  // Escapes make some texts longer than they look, so a text that does not fit is tried shorter.
  for (let max = Math.min(BODY_LENGTH, budget.characters); max >= MIN_BODY; max = Math.floor(max / 2)) {
    const { text, isCut } = cutText(item.body, max);
    if (!budget.take({ [name]: text })) continue;
    shown[name] = text;
    if (isCut) shown['cut'] = true;
    return;
  }
  shown['cut'] = true;
}

/** Returns a comment as a model reads it. */
export const toComment = (
  { author_id, at, text }: ReadItem['comments'][number],
  handles: Handles,
  max = COMMENT_LENGTH,
): Record<string, unknown> => {
  const { text: shown, isCut } = cutText(text, max);
  return compact({ by: handles.of('user', author_id), on: at.slice(0, 10), text: shown, cut: isCut });
};

function addComments({ item, shown }: Entry, handles: Handles, budget: Budget): void {
  const kept: Record<string, unknown>[] = [];
  for (const comment of item.comments.toReversed()) {
    const said = toComment(comment, handles);
    if (!budget.take(said)) {
      shown['cut'] = true;
      break;
    }
    kept.unshift(said);
  }
  if (kept.length > 0) shown['comments'] = kept;
}

/** Returns the members as a model reads them: handles and names, no addresses. */
export const describeMembers = ({ members }: LinkedWorld, handles: Handles): Record<string, unknown>[] =>
  members.map(({ user_id, name }) => ({ handle: handles.of('user', user_id), name: shownName(name) }));

/**
 * Returns the linked items for a prompt, within a number of bytes. All heads come first, then relations and members, then texts and
 * comments of what changed last. What is left out is marked with `cut`, items that do not fit are counted.
 */
export function buildData(world: LinkedWorld, handles: Handles, userId: string, bytes: number): Record<string, unknown> {
  const budget = new Budget(bytes);
  // Handles in the order of linking, before anything else may name the items.
  for (const { item_type, item_id } of world.items) handles.of(item_type, item_id);
  const entries = world.items.flatMap((item): Entry[] => {
    const shown = describeHead(item, handles);
    return budget.take(shown) ? [{ item, shown }] : [];
  });
  const members = describeMembers(world, handles).filter((member) => budget.take(member));
  const relations = world.relations
    .map(({ relation_id, source_id, target_id, relation_type }) => ({
      handle: handles.of('relation', relation_id),
      source: handles.findItem(source_id),
      target: handles.findItem(target_id),
      type: relation_type,
    }))
    .filter((relation) => budget.take(relation));
  const byRecency = entries.toSorted((a, b) => b.item.updated_at.getTime() - a.item.updated_at.getTime());
  for (const entry of byRecency) addBody(entry, budget);
  for (const entry of byRecency) addComments(entry, handles, budget);
  return {
    you_work_for: handles.of('user', userId),
    items: entries.map(({ shown }) => shown),
    ...compact({
      items_left_out: world.items.length - entries.length || null,
      links_no_longer_readable: world.lost || null,
      relations: relations.length > 0 ? relations : null,
      members: members.length > 0 ? members : null,
    }),
  };
}
