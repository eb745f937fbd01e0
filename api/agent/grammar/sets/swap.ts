import { named } from '../doubts/naming.js';
import { Question, type Subject } from '../subjects.js';

/** Returns the two tasks whose assignees are exchanged. @throws Question they are not two tasks with different assignees */
export function swapped(subjects: readonly Subject[]): readonly [Subject, Subject] {
  const [one, other, ...more] = subjects;
  if (!one?.item || !other?.item || more.length > 0 || [one, other].some(({ item }) => item?.type !== 'task'))
    throw new Question('I swap the assignees of two tasks. Name both.');
  if ((one.item.assigned_to ?? null) === (other.item.assigned_to ?? null))
    throw new Question(`Both have the same assignee already: ${named(one.item)} and ${named(other.item)}.`, [
      one.item,
      other.item,
    ]);
  return [one, other];
}
