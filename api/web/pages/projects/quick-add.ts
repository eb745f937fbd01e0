import { listMembers } from '../../../identity/teams/list-members.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { ruleInWords } from '../../../work/tasks/recurrence/describe-rule.js';
import { parseQuickAdd, type QuickLine } from '../../../work/tasks/quick-add/parse-quick-add.js';
import { listCommonTags } from '../../../work/tasks/read/common-tags.js';
import { CreateTask, type Task } from '../../../work/tasks/schema.js';
import { createTask } from '../../../work/tasks/write/create-task.js';
import type { Notice } from '../../page.js';
import { FORM_MESSAGES } from '../../wording/form-messages.js';
import { createFormatter } from '../../wording/formatter.js';
import { listFields } from './form-fields.js';
import { type Choice, fieldsOf, nameChoice } from './stage-choices.js';

/** Characters of the line that adds a task. */
export const MAX_LINE = 1_000;
/** Projects of a team that `#name` can mean. */
const MAX_PROJECTS = 500;

/** Where a line adds its task, unless it names another project. */
interface QuickPlace {
  team_id: string;
  project_id: string;
  parent_task_id?: string;
  description?: CreateTask['description'];
  /** Of a column of a board, a stage too; without it, to do. */
  status?: Choice;
}

/** A task that one line created, and what says so: `Added “Fix the crane” · due Fri 27 Nov · high · HAR-12`, with Undo. */
interface QuickAdded {
  task: Task;
  notice: Notice;
}

const wrong = (message: string) => invalidFields([{ field: 'text', message, type: 'custom' }]);

/** A line as it would be created, and its fields in words, in the order in which they are said. */
interface ReadLine extends QuickLine {
  facts: string[];
}

const Line = CreateTask.partial({ project_id: true });
/** What a request that creates the task would be refused for. */
const findFaults = (task: QuickLine['task']): string[] => {
  const { error } = Line.safeParse(task, FORM_MESSAGES);
  return (error?.issues ?? []).map(({ path, message }) => `${listFields([String(path[0])])}: ${message}`);
};

/**
 * Reads a line as `quickAdd` does, and creates nothing. A tag that tasks of the project have is spelt as they have it.
 * @throws the errors of `listMembers`
 */
export async function readQuickLine(
  ctx: Context,
  me: User,
  text: string,
  { team_id, project_id, status }: { team_id: string; project_id: string; status?: Choice | undefined },
): Promise<ReadLine> {
  const words = createFormatter(me);
  const [members, projects] = await Promise.all([
    listMembers(ctx, team_id),
    text.includes('#') ? listProjects(ctx, { team_id, limit: MAX_PROJECTS, offset: 0 }) : [],
  ]);
  const all = projects.map((json) => JSON.parse(json) as { project_id: string; name: string });
  // In its own project the name of it is a tag.
  const known = all.filter((project) => project.project_id !== project_id);
  const parsed = parseQuickAdd(text, {
    today: words.today,
    timezone: words.timeZone,
    userId: me.user_id,
    members,
    projects: known,
  });
  const spelt = parsed.task.tags.length === 0 ? [] : await listCommonTags(ctx, parsed.task.project_id ?? project_id);
  const tags = parsed.task.tags.map((tag) => spelt.find((one) => one.toLowerCase() === tag.toLowerCase()) ?? tag);
  const task = { ...parsed.task, tags: [...new Set(tags)] };
  const name = members.find(({ user_id }) => user_id === task.assigned_to)?.display_name;
  const facts = [
    ...(status && status !== 'todo' ? [await nameChoice(ctx, [team_id], status)] : []),
    ...(task.project_id ? [`in ${known.find(({ project_id }) => project_id === task.project_id)?.name}`] : []),
    ...(task.due_date ? [`due ${words.namedDay(task.due_date)}`] : []),
    ...(task.recurrence ? [ruleInWords(task.recurrence).replace('Every', 'every')] : []),
    ...(name ? [`for ${task.assigned_to === me.user_id ? 'you' : name}`] : []),
    ...(task.priority ? [words.priority(task.priority).toLowerCase()] : []),
    ...(task.estimate === undefined ? [] : [words.plural(task.estimate, 'point')]),
    ...task.tags.map((tag) => `#${tag}`),
  ];
  return { ...parsed, task, facts, problems: parsed.problems.length > 0 ? parsed.problems : findFaults(task) };
}

/**
 * Creates a task from one line of text.
 * @throws VALIDATION_ERROR at the field `text` for a line with problems | the errors of `createTask` and `listMembers`
 */
export async function quickAdd(ctx: Context, me: User, text: string, place: QuickPlace): Promise<QuickAdded> {
  const line = await readQuickLine(ctx, me, text, place);
  if (line.problems.length > 0) throw wrong(`${line.problems.join('. ')}.`);
  const { team_id: _team, status = 'todo', ...there } = place;
  const task = JSON.parse(
    (await createTask(ctx, CreateTask.parse({ priority: 'none', ...there, ...fieldsOf(status), ...line.task }))).json,
  ) as Task;
  const called = createFormatter(me).taskName(task);
  const said = [`Added “${task.title}”`, ...line.facts, ...(called ? [called] : [])].join(' · ');
  return { task, notice: { kind: 'good', text: said, undo: { kind: 'trash_tasks', tasks: [[task.task_id, task.version]] } } };
}
