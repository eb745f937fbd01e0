import type { User } from '../../../identity/auth/schema.js';
import { findTrashedTask } from '../../../bulk/trash/find-trashed-task.js';
import { isAllowed } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { MAX_FILE_BYTES } from '../../../work/items/files/rules.js';
import { getProject } from '../../../work/projects/get-project.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { PROJECT_STATUSES } from '../../../work/projects/rules.js';
import { TASK_PRIORITIES } from '../../../work/tasks/rules.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { toPlaces } from '../../../work/tasks/stages/places.js';
import { findTaskRows } from '../../../work/tasks/read/find-task-rows.js';
import type { Task } from '../../../work/tasks/schema.js';
import { createFormatter } from '../../wording/formatter.js';
import { type FormError, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { nameField } from '../projects/form-fields.js';
import { loadUpdates } from './project-updates.js';
import { loadRowFields } from '../projects/row-fields.js';
import { loadCycles, loadTaskList, writableTeams } from '../projects/task-list.js';
import { formText } from './field-form.js';
import { loadItem } from './load-item.js';
import { membersIn, namesIn } from '../../wording/names.js';
import { itemPath } from '../projects/paths.js';
import { findCollisions, taskTexts } from './task-texts.js';
import { loadRepeat } from './repeat-form.js';
import type { RelationChoice } from './relation-target.js';

/** Forms of the page of an item that can be refused. */
export type ItemForm = 'task' | 'project' | 'comment' | 'edit-comment' | 'note' | 'fields' | 'subtask' | 'file' | 'relation';

/** Values that the user typed into a rejected form, and why it was rejected. */
export interface RejectedForm {
  form: ItemForm;
  typed: Fields;
  problem: FormError;
  /** Items that the typed name of a relation's other end can mean. */
  choices?: RelationChoice[];
}

/** Projects that a task can move to. */
const MAX_PROJECTS = 500;

/** Returns the projects of a team that take tasks, by name. */
async function listPlaces(ctx: Context, teamId: string): Promise<ProjectRecord[]> {
  const rows = await listProjects(ctx, { team_id: teamId, limit: MAX_PROJECTS, offset: 0 });
  const projects = rows.map((json) => JSON.parse(json) as ProjectRecord);
  return projects.filter(({ status }) => status === 'active').toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The address of a task by its name, for texts and chats; by its id where it has no name. */
function linkOf({ config }: Context, me: User, task: Task): string {
  const name = createFormatter(me).taskName(task);
  return `${config.BASE_URL}${name ? `/app/tasks/${name}` : itemPath(task.task_id)}`;
}

/** Loads what the list of the items in a project shows of the tasks among them. */
async function listInside(ctx: Context, me: User, contents: readonly { type: string; item_id: string }[], projectId: string) {
  const taskRows = await findTaskRows(
    ctx,
    contents.flatMap(({ type, item_id }) => (type === 'task' ? [item_id] : [])),
  );
  const tasks = Object.values(taskRows);
  const members = await membersIn(ctx, me, tasks);
  return { taskRows, ...(await loadTaskList(ctx, me, { tasks, members, here: itemPath(projectId) })) };
}

const VIEWS: Readonly<Record<string, string>> = { task: 'items/task', project: 'projects/about' };

/** Renders the page of an item; its other forms keep working when one was rejected. */
export async function itemView(ctx: Context, me: User, itemId: string, rejected?: RejectedForm): Promise<View> {
  const data = await loadItem(ctx, me, itemId);
  const [projects, project, repeat, cycles, stages, rows] = await Promise.all([
    data.task && data.canWrite ? listPlaces(ctx, data.item.team_id) : [],
    data.item.type === 'project' ? getProject(ctx, itemId) : undefined,
    data.task ? loadRepeat(ctx, me, data.task) : undefined,
    data.task && data.canWrite ? loadCycles(ctx, [data.task]) : [],
    data.task ? findStages(ctx, [data.item.team_id]) : [],
    loadRowFields(ctx, data.task?.subtasks ?? []),
  ]);
  const record = project === undefined ? undefined : (JSON.parse(project) as ProjectRecord);
  const list = data.inside && (await listInside(ctx, me, data.inside.contents, itemId));
  const stored = data.task && repeat && taskTexts(data.task, repeat.stored);
  return {
    view: VIEWS[data.item.type] ?? 'items/item',
    title: data.item.title,
    teamId: data.item.team_id,
    noticePlaces: data.canWrite && data.task ? ['attach'] : [],
    scripts: data.task
      ? ['work.js', 'saves.js', 'unsent.js', 'in-place.js', 'follow.js', 'mention.js', 'suggest.js', 'paste.js']
      : data.item.type === 'project'
        ? ['work.js', 'saves.js', 'in-place.js']
        : ['work.js', 'in-place.js'],
    data: {
      ...data,
      // Of the subtasks.
      pills: rows.pills,
      link: data.task && linkOf(ctx, me, data.task),
      rejected,
      projects,
      repeat,
      cycles,
      writes: writableTeams(me),
      list,
      stored,
      met: stored && rejected?.problem.changedSince ? findCollisions(rejected.typed, stored) : [],
      nameField,
      maxFileBytes: MAX_FILE_BYTES,
      project: record,
      updates: record && (await loadUpdates(ctx, me, record, { limit: 1 })),
      formText,
      stages,
      statusPlaces: toPlaces(stages),
      statuses: PROJECT_STATUSES,
      priorities: TASK_PRIORITIES,
      // Partials of other pages read a rejected form by these names.
      problem: rejected?.form === 'subtask' ? rejected.problem : undefined,
      given: rejected?.form === 'subtask' ? rejected.typed : {},
    },
    ...(rejected && { status: rejected.problem.status }),
  };
}

/**
 * Says of a task in the trash who put it there, and offers to restore it to those who may.
 * @throws `missing`, the error of a task that the user may not know of
 */
export async function trashedView(ctx: Context, me: User, itemId: string, missing: unknown): Promise<View> {
  if (!(missing instanceof DomainError) || missing.status !== 404) throw missing;
  const task = await findTrashedTask(ctx, itemId);
  if (!task) throw missing;
  const names = await namesIn(ctx, me, [task]);
  const data = {
    task,
    name: task.deleted_by === null ? undefined : names[task.deleted_by],
    mayRestore: isAllowed('trash.restore', task.seat),
    back: itemPath(itemId),
  };
  return { view: 'items/trashed', title: `${task.title} is in the trash`, data, status: 404 };
}

interface FormVisit {
  ctx: Context;
  me: User | null;
  params: { item_id: string };
  form: Fields;
}

/** Shows the page of the item again, with what was typed. */
export const again =
  (form: ItemForm) =>
  (visit: FormVisit, problem: FormError): Promise<View> =>
    itemView(visit.ctx, requireUser(visit), visit.params.item_id, { form, typed: visit.form, problem });
