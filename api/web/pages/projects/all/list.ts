import { z } from 'zod';
import { isAllowed, type Seat } from '../../../../platform/access/access.js';
import type { Context } from '../../../../platform/context.js';
import { ClampedInt } from '../../../../platform/fields.js';
import { countTasksOfProjects } from '../../../../work/projects/count-tasks.js';
import { createProject } from '../../../../work/projects/create-project.js';
import { countProjects, listProjects } from '../../../../work/projects/list-projects.js';
import { PROJECT_STATUSES } from '../../../../work/projects/rules.js';
import { CreateProject, type ProjectRecord } from '../../../../work/projects/schema.js';
import { chooseTeam } from '../../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../../page.js';
import type { Fields } from '../../../server/read-form.js';
import { createFormatter } from '../../../wording/formatter.js';
import { namesIn } from '../../../wording/names.js';
import { Typed } from '../form-fields.js';
import { projectPath } from '../paths.js';
import { timelineOf } from './timeline.js';

/** Projects of one page. */
const MAX_SHOWN = 200;

const Filter = z.object({
  team: z.uuid().optional().catch(undefined),
  offset: ClampedInt(0, 100_000, 0).catch(0),
  show: z.literal('timeline').optional().catch(undefined),
});

interface Refused {
  problem?: FormError;
  given?: Fields;
}

async function showProjects(
  ctx: Context,
  me: Reader,
  { team: wanted, offset, show }: z.output<typeof Filter>,
  { problem, given = {} }: Refused = {},
): Promise<View> {
  const team = chooseTeam(me, wanted);
  const [texts, total] = team
    ? await Promise.all([listProjects(ctx, { team_id: team.team_id, limit: MAX_SHOWN, offset }), countProjects(ctx, team)])
    : [[], 0];
  const projects = texts.map((text) => JSON.parse(text) as ProjectRecord);
  const active = projects.filter(({ status }) => status === 'active');
  const { today } = createFormatter(me);
  const data = {
    team,
    counts: await countTasksOfProjects(
      ctx,
      active.map(({ project_id }) => project_id),
      today,
    ),
    timeline: show && timelineOf(active, today),
    names: await namesIn(
      ctx,
      me,
      projects.filter(({ lead_id }) => lead_id !== null),
    ),
    teams: me.teams,
    groups: PROJECT_STATUSES.map((status) => ({ status, projects: projects.filter((each) => each.status === status) })).filter(
      (group) => group.projects.length > 0,
    ),
    total,
    offset,
    next: offset + projects.length < total && projects.length > 0 ? offset + projects.length : undefined,
    size: MAX_SHOWN,
    // A project of any of their teams may be made here, whichever the list shows.
    writes: me.teams.filter(({ role }) => isAllowed('project.write', role as Seat)),
    problem,
    given,
  };
  return { view: 'projects/list', title: 'Projects', data, teamId: team?.team_id };
}

export const projectListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/projects',
    access: 'project.list',
    query: Filter,
    handle: ({ ctx, me, query }) => showProjects(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/projects',
    access: 'project.write',
    form: z.object({
      name: CreateProject.shape.name,
      team_id: CreateProject.shape.team_id,
      description: Typed.pipe(CreateProject.shape.description.unwrap().unwrap()).optional(),
    }),
    async handle({ ctx, form }) {
      const { data } = await createProject(ctx, form);
      return { to: projectPath(data.project_id), notice: { kind: 'good', text: `${data.name} is ready. Add its first task.` } };
    },
    onError: ({ ctx, me, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : undefined;
      return showProjects(ctx, requireUser({ me }), { team, offset: 0 }, { problem, given: form });
    },
  }),
];
