import { truncateText } from '../../../automation/runs/record/rules.js';
import type { Context } from '../../../platform/context.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import type { DomainError } from '../../../platform/errors.js';
import { plainMessage } from '../../wording/plain-message.js';
import { getWorkItem } from '../../../work/items/get-work-item.js';

/** Changes at a time: they share statements, and those that fail share few connections. */
const AT_ONCE = 20;
/** Titles that a notice names for one reason, and characters of each. */
const MAX_NAMED = 3;
const MAX_TITLE_LENGTH = 40;

/** What became of each item. */
export interface EachResult<T, R> {
  done: { item: T; result: R }[];
  /** Of an error of 500 or more nobody knows whether the item was changed: the connection may have broken after the commit. */
  failed: { item: T; error: DomainError }[];
  /** Items after such an error. */
  untried: T[];
}

/**
 * Does one thing with each item, some at a time; each succeeds or fails by itself. An error that the caller is not to blame for is logged, and ends it
 * after those under way.
 */
export async function eachTask<T, R>(
  ctx: Context,
  items: readonly T[],
  act: (item: T) => Promise<R>,
  atOnce = AT_ONCE,
): Promise<EachResult<T, R>> {
  const found: EachResult<T, R> = { done: [], failed: [], untried: [] };
  for (let at = 0; at < items.length; at += atOnce) {
    const some = items.slice(at, at + atOnce);
    const settled = await Promise.allSettled(some.map(act));
    for (const [index, one] of settled.entries()) {
      const item = some[index] as T;
      if (one.status === 'fulfilled') found.done.push({ item, result: one.value });
      else found.failed.push({ item, error: toDomainError(one.reason) });
    }
    const broken = found.failed.find(({ error }) => error.status >= 500)?.error;
    if (!broken) continue;
    ctx.log.error({ err: broken.cause ?? broken, left: items.length - at - some.length }, 'a change of several tasks broke off');
    found.untried = items.slice(at + atOnce);
    break;
  }
  return found;
}

/** Returns the title of an item that the caller may read, as a notice quotes it. */
async function findTitle(ctx: Context, itemId: string): Promise<string | undefined> {
  try {
    const { title } = JSON.parse((await getWorkItem(ctx, itemId)).json) as { title: string };
    return `“${truncateText(title, MAX_TITLE_LENGTH)}”`;
  } catch {
    return undefined;
  }
}

/** Names the first items that the caller may read, and counts the others: `“Fix it”, “Paint it”, and 4 more`. */
async function nameItems(ctx: Context, ids: readonly string[]): Promise<string> {
  const titles = await Promise.all(ids.slice(0, MAX_NAMED).map((id) => findTitle(ctx, id)));
  const named = titles.filter((title) => title !== undefined);
  const others = ids.length - named.length;
  if (named.length === 0) return others === 1 ? 'One task' : `${others} tasks`;
  return new Intl.ListFormat('en').format([...named, ...(others > 0 ? [`${others} more`] : [])]);
}

/** Says of the items of one reason why they were left. `[id]`: the item. */
async function describeReason(ctx: Context, ids: readonly string[], { error, reason }: { error: DomainError; reason: string }) {
  const names = await nameItems(ctx, ids);
  if (error.status >= 500) return `Look at ${names.replace(/^One/, 'one')} before you try again: ${reason}.`;
  return `${names} ${ids.length === 1 ? 'was' : 'were'} left alone: ${reason}.`;
}

/**
 * Says which items were not changed, by reason; empty if all were. `stale` is the reason of those whose version was outdated.
 */
export async function describeLeft<T extends string | readonly [string, ...unknown[]]>(
  ctx: Context,
  { failed, untried }: EachResult<T, unknown>,
  stale: string,
): Promise<string> {
  const idOf = (item: T): string => (typeof item === 'string' ? item : item[0]);
  const byReason = new Map<string, typeof failed>();
  for (const one of failed) {
    const reason = 'changed_since' in one.error.extra ? stale : plainMessage(one.error.message, null);
    byReason.set(reason, [...(byReason.get(reason) ?? []), one]);
  }
  const sentences = await Promise.all(
    [...byReason].map(([reason, some]) =>
      describeReason(
        ctx,
        some.map(({ item }) => idOf(item)),
        { reason, error: (some[0] as (typeof some)[0]).error },
      ),
    ),
  );
  const rest =
    untried.length === 0 ? [] : [`${untried.length === 1 ? 'One task was' : `${untried.length} tasks were`} not tried.`];
  return [...sentences, ...rest].join(' ');
}
