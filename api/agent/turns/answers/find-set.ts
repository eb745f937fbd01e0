import type { Context } from '../../../platform/context.js';
import { alternativesOf } from '../../grammar/sets/any-of.js';
import { onlyAssignees, type RuleWorld } from '../../grammar/subjects.js';
import type { TaskFilter } from '../../grammar/terms.js';
import { cyclesOf } from './cycle.js';
import { type Asking, findTasks, type FoundTask } from '../find-tasks.js';

const byDue = (a: FoundTask, b: FoundTask): number => (a.due ?? '9').localeCompare(b.due ?? '9');

/**
 * Finds the tasks that a filter means, each alternative of it, and of each cycle that it names; undefined if it names none.
 * @throws Question no member has the name, or several
 */
export async function findSet(
  ctx: Context,
  world: Pick<RuleWorld, 'people' | 'userId'>,
  filter: TaskFilter,
  asking: Asking,
): Promise<FoundTask[] | undefined> {
  const cycles = filter.cycle && (await cyclesOf(ctx, filter.cycle, asking));
  if (cycles?.length === 0) return undefined;
  const places = cycles?.map(({ cycle_id: cycleId }) => ({ cycleId })) ?? [undefined];
  const found = new Map<string, FoundTask>();
  const filters = alternativesOf(filter);
  for (const each of filters)
    for (const place of places)
      for (const task of await findTasks(ctx, each, onlyAssignees(world, each.assignee), { ...asking, ...(place && { place }) }))
        found.set(task.id, task);
  const tasks = [...found.values()];
  return filters.length * places.length > 1 ? tasks.toSorted(byDue) : tasks;
}
