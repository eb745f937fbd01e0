import type { Estimates } from '../../work/tasks/read/sum-estimates.js';

const points = (count: number): string => `${count} ${count === 1 ? 'point' : 'points'}`;

/** Says how much of what was estimated is done: `12 of 30 points done, 4 open tasks without estimate`. */
export function estimatesText({ scope, completed, without }: Estimates): string {
  const rest = without === 0 ? '' : `, ${without} open ${without === 1 ? 'task' : 'tasks'} without estimate`;
  return `${completed} of ${points(scope)} done${rest}`;
}

/** Says how much the last cycles completed, the oldest first; undefined where they completed nothing that was estimated. */
export function velocityText(newestFirst: readonly number[]): string | undefined {
  const all = newestFirst.toReversed();
  const sum = all.reduce((total, one) => total + one, 0);
  if (sum === 0) return undefined;
  if (all.length === 1) return `The last cycle completed ${points(sum)}.`;
  const list = new Intl.ListFormat('en').format(all.map(String));
  return `The last ${all.length} cycles completed ${list} points, ${Math.round(sum / all.length)} on average.`;
}
