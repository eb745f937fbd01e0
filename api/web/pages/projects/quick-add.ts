import { listMembers } from '../../../identity/teams/list-members.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { ruleInWords } from '../../../work/tasks/recurrence/describe-rule.js';
import { parseQuickAdd } from '../../../work/tasks/quick-add/parse-quick-add.js';
import type { TaskStatus } from '../../../work/tasks/rules.js';
import { CreateTask, type Task } from '../../../work/tasks/schema.js';
import { createTask } from '../../../work/tasks/write/create-task.js';
import { FORM_MESSAGES } from '../../wording/form-messages.js';
import { createFormatter } from '../../wording/formatter.js';
import { listFields } from './form-fields.js';

/** Projects of a team that `#name` can mean. */
const MAX_PROJECTS = 500;

/** Where a line adds its task, unless it names another project. */
interface QuickPlace {
  team_id: string;
  project_id: string;
  parent_task_id?: string;
  /** Of a column of a board; without it, to do. */
  status?: TaskStatus;
}

/** A task that one line created, and its fields in words: `“Fix the crane” · due 27 Nov · high · HAR-12`. */
export interface QuickAdded {
  task: Task;
  said: string;
}

const wrong = (message: string) => invalidFields([{ field: 'text', message, type: 'custom' }]);

/**
 * Creates a task from one line of text.
 * @throws VALIDATION_ERROR at the field `text` for a line with problems | the errors of `createTask` and `listMembers`
 */
export async function quickAdd(ctx: Context, me: User, text: string, place: QuickPlace): Promise<QuickAdded> {
  const words = createFormatter(me);
  const [members, projects] = await Promise.all([
    listMembers(ctx, place.team_id),
    text.includes('#') ? listProjects(ctx, { team_id: place.team_id, limit: MAX_PROJECTS, offset: 0 }) : [],
  ]);
  const known = projects.map((json) => JSON.parse(json) as { project_id: string; name: string });
  const line = parseQuickAdd(text, {
    today: words.today,
    timezone: words.timeZone,
    userId: me.user_id,
    members,
    projects: known,
  });
  if (line.problems.length > 0) throw wrong(`${line.problems.join('. ')}.`);
  const { team_id: _team, ...there } = place;
  const parsed = CreateTask.safeParse({ ...there, ...line.task }, FORM_MESSAGES);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map(({ path, message }) => `${listFields([String(path[0])])}: ${message}`).join('. '));
  const task = JSON.parse((await createTask(ctx, parsed.data)).json) as Task;
  const name = members.find(({ user_id }) => user_id === task.assigned_to)?.display_name;
  const called = words.taskName(task);
  const facts = [
    ...(task.status === 'todo' ? [] : [words.formatStatus(task.status)]),
    ...(line.task.project_id ? [`in ${known.find(({ project_id }) => project_id === task.project_id)?.name}`] : []),
    ...(task.due_date ? [`due ${words.day(task.due_date)}`] : []),
    ...(task.recurrence ? [ruleInWords(task.recurrence).replace('Every', 'every')] : []),
    ...(name ? [`for ${task.assigned_to === me.user_id ? 'you' : name}`] : []),
    ...(line.task.priority ? [task.priority] : []),
    ...task.tags.map((tag) => `#${tag}`),
    ...(called ? [called] : []),
  ];
  return { task, said: [`Added “${task.title}”`, ...facts].join(' · ') };
}
