/** Tasks behind a moved one that may get another place with it, where no number is left between two. */
export const MAX_SHIFTED = 20;

/** A task of a project with its place in the manual order. */
export interface Placed {
  task_id: string;
  place: number;
}

/** Returns `count` numbers between two, at equal distances; undefined if so many do not fit. */
function numbersBetween(low: number, high: number, count: number): number[] | undefined {
  const numbers = Array.from({ length: count }, (_, at) => low + ((high - low) * (at + 1)) / (count + 1));
  return numbers.every((number, at) => number > (numbers[at - 1] ?? low) && number < high) ? numbers : undefined;
}

/** Returns a distance that makes a difference to a number, however large it is. */
const stepFrom = (place: number): number => Math.max(1, Math.abs(place) * 2 ** -40);

/**
 * Decides the places for a task that is to follow `low`: one number before the next task; where none is left, the fewest tasks behind it move too.
 * @param low place that the task follows; undefined for the beginning
 * @param next tasks behind that place, in order
 * @returns places by id; undefined if there is no room
 */
export function decidePlaces(taskId: string, low: number | undefined, next: readonly Placed[]): Placed[] | undefined {
  const [first] = next;
  if (low === undefined) {
    const place = first ? first.place - stepFrom(first.place) : 0;
    return Number.isFinite(place) ? [{ task_id: taskId, place }] : undefined;
  }
  for (let shifted = 0; shifted <= Math.min(next.length, MAX_SHIFTED); shifted += 1) {
    const moved = [{ task_id: taskId }, ...next.slice(0, shifted)];
    // Behind the last task there is no end.
    const high = next[shifted]?.place ?? low + (moved.length + 1) * stepFrom(low);
    const numbers = numbersBetween(low, high, moved.length);
    if (numbers) return moved.map(({ task_id }, at) => ({ task_id, place: numbers[at] as number }));
  }
  return undefined;
}
