import { titleStems } from '../match.js';

/** Tasks that an answer offers instead of the one that was not found. */
const MAX_NEAR = 4;

/** A task as it is ranked. */
interface Titled {
  title: string;
  status: string;
}

/** How many of the stems a title has. */
const scoreOf = (title: string, stems: readonly string[]): number => {
  const found = titleStems(title);
  return stems.filter((each) => found.has(each)).length;
};

/**
 * Returns the tasks whose titles share most of the stems, open ones first; none if no title has any.
 * `hasAll`: whether they have all of them, so that something else of the question does not fit.
 */
export function nearest<T extends Titled>(tasks: readonly T[], stems: readonly string[]): { tasks: T[]; hasAll: boolean } {
  const scored = tasks.map((task) => ({ task, score: scoreOf(task.title, stems) }));
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const near = best === 0 ? [] : scored.filter(({ score }) => score === best).map(({ task }) => task);
  const isDone = ({ status }: T): number => Number(status === 'done');
  return { tasks: near.toSorted((a, b) => isDone(a) - isDone(b)).slice(0, MAX_NEAR), hasAll: best === stems.length };
}
