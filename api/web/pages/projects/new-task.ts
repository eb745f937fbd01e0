import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { Id, Text } from '../../../platform/fields.js';
import { getProject } from '../../../work/projects/get-project.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { chooseTeam } from '../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { CreateTask } from '../../../work/tasks/schema.js';
import { Typed } from './form-fields.js';
import { backPath, projectPath } from './paths.js';
import { MAX_LINE, quickAdd, readQuickLine } from './quick-add.js';
import { Choice } from './stage-choices.js';
import { writableTeams } from './task-list.js';

/** Projects that the form offers. */
const MAX_PROJECTS = 500;

/** The project that is chosen at first, and the page to go back to. */
const NewTask = z.object({
  project: z.uuid().optional().catch(undefined),
  back: z.string().max(2_000).optional().catch(undefined),
});

/** An empty field is no description. */
const Description = Typed.transform((text) => (text.trim() === '' ? null : text))
  .pipe(CreateTask.shape.description.unwrap())
  .optional();

/** Returns the active projects of which the user may create tasks, by the names of their teams, those of the current one first. */
async function listPlaces(ctx: Context, me: Reader): Promise<[team: string, projects: ProjectRecord[]][]> {
  const writes = writableTeams(me);
  const rows = await listProjects(ctx, { limit: MAX_PROJECTS, offset: 0 });
  const open = rows.map((json) => JSON.parse(json) as ProjectRecord).filter(({ status }) => status === 'active');
  const current = chooseTeam(me)?.team_id;
  return me.teams
    .toSorted((a, b) => Number(b.team_id === current) - Number(a.team_id === current))
    .filter(({ team_id }) => writes.has(team_id))
    .map(({ team_id, name }): [string, ProjectRecord[]] => [name, open.filter((project) => project.team_id === team_id)])
    .filter(([, projects]) => projects.length > 0);
}

async function showNewTask(
  ctx: Context,
  me: User,
  { project, back }: z.output<typeof NewTask>,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const data = { places: await listPlaces(ctx, me), chosen: project, back: backPath(back, ''), ...refused };
  return { view: 'tasks/new', title: 'New task', data };
}

export const newTaskPages: Page[] = [
  page({
    method: 'get',
    path: '/app/tasks/new',
    access: 'project.list',
    query: NewTask,
    handle: ({ ctx, me, query }) => showNewTask(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/tasks/new',
    access: 'task.write',
    form: z.object({
      project_id: Id,
      text: Text.max(MAX_LINE),
      description: Description,
      back: z.string().max(2_000).optional(),
    }),
    async handle({ ctx, me, form: { project_id, text, description, back } }) {
      const { team_id } = JSON.parse(await getProject(ctx, project_id)) as ProjectRecord;
      const { task, notice } = await quickAdd(ctx, requireUser({ me }), text, { team_id, project_id, description });
      return { to: backPath(back, projectPath(task.project_id)), notice };
    },
    onError({ ctx, me, form }, problem) {
      const { project_id: project, back } = form;
      return showNewTask(ctx, requireUser({ me }), NewTask.parse({ project, back }), { problem, given: form });
    },
  }),
  page({
    method: 'get',
    path: '/app/tasks/line',
    access: 'project.read',
    query: z.object({
      project_id: Id,
      text: z.string().max(MAX_LINE).catch(''),
      status: Choice.optional().catch(undefined),
    }),
    async handle({ ctx, me, query: { project_id, text, status } }) {
      const { team_id } = JSON.parse(await getProject(ctx, project_id)) as ProjectRecord;
      const line =
        text.trim() === '' ? undefined : await readQuickLine(ctx, requireUser({ me }), text, { team_id, project_id, status });
      return { view: 'projects/line', title: 'New task', isFragment: true, data: { line } };
    },
  }),
];
