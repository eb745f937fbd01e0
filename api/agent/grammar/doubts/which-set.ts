import { type FilteredTask, hasStems } from '../sets/is-meant.js';
import { phraseStems } from '../match.js';

/** Words beside “tasks” are a tag, the name of a project, or words of titles: which of them, the tasks say. */

const isTagged = ({ tags }: FilteredTask, words: readonly string[]): boolean =>
  (tags ?? []).some((tag) => {
    const stems = phraseStems(tag.toLowerCase().split(/[^\p{L}\p{N}]+/u)).distinctive;
    return stems.length === words.length && stems.every((stem) => words.includes(stem));
  });

const idsOf = (tasks: readonly FilteredTask[]): string =>
  tasks
    .map(({ id }) => id)
    .toSorted()
    .join();

/**
 * Returns the tasks of a set that words mean: the same ones in each way in which they mean any, else those that have the words in several places.
 * `doubt`: what the words may be, where that makes different tasks.
 */
export function onlyMeaning<T extends FilteredTask>(
  tasks: readonly T[],
  words: readonly string[],
): { tasks: T[]; doubt?: string } {
  const ways = [
    ['tagged with it', tasks.filter((task) => isTagged(task, words))],
    ['of a project of that name', tasks.filter(({ project_title }) => hasStems(project_title ?? '', words))],
    ['with it in the title', tasks.filter(({ title }) => hasStems(title, words))],
  ] as const;
  const [first, ...others] = ways.filter(([, found]) => found.length > 0);
  if (!first) return { tasks: tasks.filter(({ title, project_title }) => hasStems(`${title} ${project_title ?? ''}`, words)) };
  if (others.every(([, found]) => idsOf(found) === idsOf(first[1]))) return { tasks: first[1] };
  const meant = [first, ...others].map(([how, found]) => `${found.length} ${how}`);
  const doubt = `${meant.slice(0, -1).join(', ')} or ${meant.at(-1)}`;
  return { tasks: [], doubt: `${doubt}. Write “everything tagged …” or “all tasks in the project …”, or name the tasks.` };
}
