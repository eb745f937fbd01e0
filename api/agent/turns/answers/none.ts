import type { Context } from '../../../platform/context.js';
import { nearest } from '../../grammar/sets/near.js';
import { quote } from '../../grammar/doubts/naming.js';
import type { TaskFilter } from '../../grammar/terms.js';
import { mentionsOf } from '../answer-words.js';
import type { Answer } from '../end-turn.js';
import { type Asking, findWithAny } from '../find-tasks.js';
import { linesOf, NO_TASK } from './task-lines.js';

/** Says that nothing was found, and what was looked for: a word that was not meant as a name shows. */
const noneWords = (words: readonly string[]): string =>
  words.length === 0
    ? NO_TASK
    : `I found no task with all of these words in its title, tags or project: ${words.map(quote).join(', ')}. If you mean one, name it by its number.`;

/** Says that no task fits a question, with those whose titles have most of its words. */
export async function answerNone(ctx: Context, filter: TaskFilter, asking: Asking): Promise<Answer> {
  const { words = [], said = words, project = [], tag } = filter;
  const near = words.length === 0 ? undefined : nearest(await findWithAny(ctx, words, asking), words);
  if (!near || near.tasks.length === 0) return { content: noneWords([...said, ...project, ...(tag === undefined ? [] : [tag])]) };
  const isOne = near.tasks.length === 1;
  const head = near.hasAll
    ? `No task with ${said.map(quote).join(' and ')} in its title is like that. ${isOne ? 'This one has the words' : 'These have the words'}:`
    : `No task has all of these words: ${said.map(quote).join(', ')}. Do you mean ${isOne ? 'this one' : 'one of these'}?`;
  return { content: [head, ...linesOf(near.tasks)].join('\n'), mentions: mentionsOf(near.tasks) };
}
