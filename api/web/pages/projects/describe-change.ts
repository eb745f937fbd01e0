import { listMembers } from '../../../identity/teams/list-members.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { readCycle } from '../../../work/cycles/read-cycle.js';
import { getProject } from '../../../work/projects/get-project.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import { TASK_RESOLUTIONS } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import { findTaskFields } from '../../../work/custom-fields/find-task-fields.js';
import { nameFieldValue } from '../../wording/field-value.js';
import { createFormatter } from '../../wording/formatter.js';
import { type Choice, nameChoice } from './stage-choices.js';
import { BACKLOG, NOTHING } from './change-ticked.js';
import { describeClosed } from './duplicates.js';
import { readChosen } from './field-changes.js';
import { type FieldParam, fieldParam } from '../filters/field-params.js';

/** Fields that one button of the palette changes. */
export const CHANGED_BY_BUTTON = [
  'status',
  'assigned_to',
  'priority',
  'due_date',
  'estimate',
  'cycle',
  'duplicate_of',
  'project_id',
  'add_tag',
  'remove_tag',
] as const;
export interface ButtonChange {
  field: (typeof CHANGED_BY_BUTTON)[number] | FieldParam;
  value: string;
}

const isClosed = (choice: string): boolean => ['done', ...TASK_RESOLUTIONS].includes(choice);

/** A task as it is read alone. */
type Shown = Task & { subtasks: Task[] };

/** Says how many subtasks of a task that was closed are still open: none of them follows. Empty without any. */
function sayOpenSubtasks({ subtasks }: Shown, plural: (count: number, noun: string) => string): string {
  const open = subtasks.filter(({ status }) => status !== 'done').length;
  return open === 0 ? '' : `; ${plural(open, 'subtask')} ${open === 1 ? 'is' : 'are'} still open`;
}

async function nameAssignee(ctx: Context, me: User, { team_id }: Task, userId: string): Promise<string> {
  if (userId === me.user_id) return 'you';
  return (await listMembers(ctx, team_id)).find(({ user_id }) => user_id === userId)?.display_name ?? 'a member';
}

/** Says which value a custom field has got: `Severity is now S1`. */
async function wordField(ctx: Context, me: User, { team_id }: Task, { field, value }: { field: FieldParam; value: string }) {
  const own = (await findTaskFields(ctx, [team_id])).find(({ key }) => fieldParam(key) === field);
  const text = readChosen(value)?.to;
  if (!own || !text) return `${own?.name ?? 'The field'} is cleared`;
  const members = own.field_type === 'user' ? await listMembers(ctx, team_id) : [];
  const names = Object.fromEntries(members.map(({ user_id, display_name }) => [user_id, display_name]));
  return `${own.name} is now ${nameFieldValue(own, text, { names, day: createFormatter(me).day })}`;
}

/** Says what a button has made of a task: `Assigned to Mia`. The change has succeeded, so what it names is there. */
async function wordChange(ctx: Context, me: User, task: Shown, { field, value }: ButtonChange): Promise<string> {
  const { day, plural } = createFormatter(me);
  const teams = me.teams.map(({ team_id }) => team_id);
  switch (field) {
    case 'status':
      return isClosed(value)
        ? `Marked as ${value}${sayOpenSubtasks(task, plural)}`
        : `Moved to ${await nameChoice(ctx, teams, value as Choice)}`;
    case 'priority':
      return value === 'none' ? 'The priority is removed' : `Priority is now ${value}`;
    case 'due_date':
      return value === NOTHING ? 'The due date is removed' : `Due ${day(value)}`;
    case 'estimate':
      return value === NOTHING ? 'The estimate is removed' : `The estimate is now ${plural(Number(value), 'point')}`;
    case 'assigned_to':
      return value === NOTHING ? 'Nobody is assigned' : `Assigned to ${await nameAssignee(ctx, me, task, value)}`;
    case 'project_id':
      return `Moved to ${(JSON.parse(await getProject(ctx, value)) as ProjectRecord).name}`;
    case 'add_tag':
      return `Tagged #${value}`;
    case 'remove_tag':
      return `The tag #${value} is removed`;
    case 'duplicate_of':
      return describeClosed(ctx, me, value);
    case 'cycle':
      return value === BACKLOG ? 'Moved to the backlog' : `Moved to ${(await readCycle(ctx, 'cycle.read', value)).name}`;
    default:
      return wordField(ctx, me, task, { field, value });
  }
}

/** Says what a button has made of one task, and of which: `Moved to In review · HAR-12`. */
export async function describeChange(ctx: Context, me: User, taskId: string, change: ButtonChange): Promise<string> {
  const task = JSON.parse((await getTask(ctx, taskId)).json) as Shown;
  const called = createFormatter(me).taskName(task);
  return [await wordChange(ctx, me, task, change), ...(called ? [called] : [])].join(' · ');
}
