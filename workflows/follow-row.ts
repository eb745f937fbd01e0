import { allHandlersFinished, condition, setHandler, type SignalDefinition } from '@temporalio/workflow';

/** Maximum duration of one timer; the row is read again after it. */
const MAX_WAIT_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * What a look at the row found: its end; the time in ms until the next look, null for no timer, with the timer's name; or something that may happen
 * again at once.
 */
export type Found<Result> = { end: Result } | { waitMs: number | null; summary: string } | 'recheck';

/**
 * Follows a row of PostgreSQL, which decides: looks at it, then waits until a signal or a timer, and rechecks it until it has ended. Signals
 * carry nothing, so they may be repeated, delayed or merged. Returns undefined after that many looks: the workflow continues as new.
 */
export async function followRow<Result>(
  signals: readonly SignalDefinition<unknown[]>[],
  looks: number,
  look: () => Promise<Found<Result>>,
): Promise<{ end: Result } | undefined> {
  let wakes = 0;
  const wake = () => {
    wakes += 1;
  };
  for (const signal of signals) setHandler(signal, wake);
  for (let count = 0; count < looks; count += 1) {
    const seen = wakes; // read before the row, so that no wake is lost
    const isWoken = () => wakes > seen;
    const found = await look();
    if (found === 'recheck') continue;
    if ('end' in found) {
      if (isWoken()) continue;
      await condition(allHandlersFinished);
      return found;
    }
    const { waitMs, summary } = found;
    if (waitMs === null) await condition(isWoken);
    else await condition(isWoken, Math.min(Math.max(waitMs, 1), MAX_WAIT_MS), { summary });
  }
  await condition(allHandlersFinished);
  return undefined;
}
