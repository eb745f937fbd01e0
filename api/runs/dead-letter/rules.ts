import type { ActionStatus } from '../rules.js';

interface Planned {
  type: string;
  params?: Record<string, unknown>;
}

/** The type of the action that is a gate, see ../rules.ts. */
const isGate = ({ type }: Planned): boolean => type === 'require_approval';

/** Both come out of jsonb, whose keys stand in one order, so equal actions have equal text. */
const isSame = (a: Planned, b: Planned): boolean =>
  a.type === b.type && JSON.stringify(a.params ?? {}) === JSON.stringify(b.params ?? {});

/**
 * What a replay of only the failed actions leaves out: indexes in `next` of what succeeded in `before`. The automation may have
 * been mended in between, so an action is known again by its content wherever it stands now, then by its type in its old place.
 * An approval was given for what stood behind it that time, so a gate asks again unless nothing is left to do behind it.
 * Source: decision F10.
 */
export function actionsToSkip(before: readonly (Planned & { status: ActionStatus })[], next: readonly Planned[]): number[] {
  const done = new Set<number>();
  const take = (isMatch: (index: number) => boolean): boolean => {
    const found = next.findIndex((action, index) => !done.has(index) && !isGate(action) && isMatch(index));
    if (found !== -1) done.add(found);
    return found !== -1;
  };
  const succeeded = before.flatMap((action, place) =>
    action.status === 'succeeded' && !isGate(action) ? [{ action, place }] : [],
  );
  const changed = succeeded.filter(({ action, place }) => {
    const same = (index: number) => isSame(action, next[index] as Planned);
    return !take((index) => index === place && same(index)) && !take(same);
  });
  for (const { action, place } of changed) take((index) => index === place && next[index]?.type === action.type);
  const last = next.findLastIndex((action, index) => !isGate(action) && !done.has(index));
  return next.flatMap((action, index) => (done.has(index) || (isGate(action) && index > last) ? [index] : []));
}
