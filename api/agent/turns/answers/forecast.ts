import type { Context } from '../../../platform/context.js';
import { quote } from '../../grammar/doubts/naming.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import { mentionsOf, plural } from '../answer-words.js';
import type { Answer } from '../end-turn.js';
import { type Asking, findTasks } from '../find-tasks.js';
import { countsLine, doneLine } from './counts.js';
import { linesOf } from './task-lines.js';

const NONE = 'I make no forecast: I only know what is open, and its due dates.';

/** Tells what is open of a project, and until when it is planned: nothing says when it will be done. */
export async function answerForecast(ctx: Context, project: LinkedItem, asking: Asking): Promise<Answer> {
  const tasks = await findTasks(ctx, {}, [], { ...asking, teamIds: [project.team_id], place: { projectId: project.id } });
  const open = tasks.filter(({ status }) => status !== 'done');
  const dues = open.flatMap(({ due }) => due ?? []).toSorted();
  const undated = open.length - dues.length;
  const last = dues.at(-1);
  const dated = [
    ...(last === undefined ? [] : [`the last due date is ${last}`]),
    ...(undated > 0 ? [`${plural(undated, 'open task has', 'open tasks have')} none`] : []),
  ];
  const lines = [
    `- project ${quote(project.title)}`,
    doneLine(tasks),
    countsLine(tasks, asking.today),
    ...(dated.length > 0 ? [`- ${dated.join('; ')}`] : []),
    ...(open.length > 0 ? ['', 'Open:', ...linesOf(open)] : []),
  ];
  return { content: [NONE, ...lines].join('\n'), mentions: mentionsOf([project, ...open.slice(0, 20)]) };
}
