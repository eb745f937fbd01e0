import type { ActionStatus } from '../record/rules.js';

interface PlannedAction {
  type: string;
  name?: string | null | undefined;
  params?: Record<string, unknown>;
}

/** Repeats GATE of ../rules.ts: a rules file imports types only. */
const isGate = ({ type }: PlannedAction): boolean => type === 'require_approval';

/** jsonb orders its keys, so equal actions have equal text. */
const isSame = (a: PlannedAction, b: PlannedAction): boolean =>
  a.type === b.type && JSON.stringify(a.params ?? {}) === JSON.stringify(b.params ?? {});

/**
 * Returns the indexes in `next` that a replay of only the failed actions skips: actions that succeeded in `before`. The
 * automation may have changed since, so an action is matched by content at any position, then by type at its old position. An
 * approval covered the actions behind its gate at that time, so a gate asks again unless no action behind it remains
 * (docs/decisions/automation.md#replays). `isRead`: whether a later action reads its answer, which must then be that of the same action.
 */
export function actionsToSkip(
  before: readonly (PlannedAction & { status: ActionStatus })[],
  next: readonly PlannedAction[],
  isRead: (index: number) => boolean = () => false,
): number[] {
  const done = new Set<number>();
  const match = (isMatch: (index: number) => boolean): boolean => {
    const found = next.findIndex((action, index) => !done.has(index) && !isGate(action) && isMatch(index));
    if (found !== -1) done.add(found);
    return found !== -1;
  };
  const succeeded = before.flatMap((action, place) =>
    action.status === 'succeeded' && !isGate(action) ? [{ action, place }] : [],
  );
  const changed = succeeded.filter(({ action, place }) => {
    const same = (index: number) =>
      isSame(action, next[index] as PlannedAction) && (!isRead(index) || action.name === next[index]?.name);
    return !match((index) => index === place && same(index)) && !match(same);
  });
  for (const { action, place } of changed)
    match((index) => index === place && next[index]?.type === action.type && !isRead(index));
  const last = next.findLastIndex((action, index) => !isGate(action) && !done.has(index));
  return next.flatMap((action, index) => (done.has(index) || (isGate(action) && index > last) ? [index] : []));
}
