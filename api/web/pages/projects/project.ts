import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { ClampedInt, Text } from '../../../platform/fields.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import { getProject } from '../../../work/projects/get-project.js';
import { ProjectParams, type ProjectRecord } from '../../../work/projects/schema.js';
import { createView } from '../../../work/saved-views/create-view.js';
import { LAYOUTS } from '../../../work/saved-views/rules.js';
import { CreateSavedView } from '../../../work/saved-views/schema.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { sumEstimates } from '../../../work/tasks/read/sum-estimates.js';
import type { Task } from '../../../work/tasks/schema.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { type FormError, page, type Page, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { withFields } from '../filters/field-params.js';
import { filterData, projectBar } from '../filters/filter-bar.js';
import { inProject, TaskFilters, toQuery, toSort, toSource, toViewFilters } from '../filters/filters.js';
import { loadGroupHeads } from './group-heads.js';
import { countHeads, inStages } from './stage-groups.js';
import { backPath, projectPath } from './paths.js';
import { MAX_LINE, quickAdd } from './quick-add.js';
import { loadCycles, loadTaskList } from './task-list.js';

/** Tasks of one page. */
const ROWS = 50;

const ListQuery = withFields(TaskFilters.extend({ offset: ClampedInt(0, 10_000, 0).catch(0) }));

/** A form of the page that was refused, with what was typed. */
interface Refused {
  problem?: FormError;
  given?: Fields;
  viewProblem?: FormError;
  viewGiven?: Fields;
}

/** What pages show of a team around its tasks. */
export async function loadTeam(ctx: Context, me: User, teamId: string) {
  const team = me.teams.find(({ team_id }) => team_id === teamId);
  const [members, stages] = await Promise.all([listMembers(ctx, teamId), findStages(ctx, [teamId])]);
  return {
    teamName: team?.name ?? 'Team',
    members,
    stages,
    names: Object.fromEntries(members.map((each) => [each.user_id, each.user_id === me.user_id ? 'You' : each.display_name])),
    canWrite: isAllowed('task.write', (team?.role ?? null) as Seat | null),
  };
}

/** What each page of a project shows around its tasks. */
export async function loadProject(ctx: Context, me: User, projectId: string) {
  const project = JSON.parse(await getProject(ctx, projectId)) as ProjectRecord;
  const [team, cycles, fields] = await Promise.all([
    loadTeam(ctx, me, project.team_id),
    loadCycles(ctx, [project]),
    listFields(ctx, { team_id: project.team_id, entity_type: 'task' }),
  ]);
  return { project, ...team, fields, filterCycles: Object.fromEntries(cycles.map(({ cycle_id, name }) => [cycle_id, name])) };
}

async function showProject(
  ctx: Context,
  me: User,
  projectId: string,
  { offset, ...filters }: z.output<typeof ListQuery>,
  { problem, given = {}, viewProblem, viewGiven }: Refused = {},
): Promise<View> {
  const around = await loadProject(ctx, me, projectId);
  const source = inStages(toSource(around.project, filters), around.stages);
  const here = `${projectPath(projectId)}${toQuery(filters, { offset: offset || undefined })}`;
  const [{ body, count, more }, groups, estimates] = await Promise.all([
    listMatches(ctx, source, { limit: ROWS, offset }),
    countHeads(ctx, source, around.stages),
    sumEstimates(ctx, { project_id: projectId }),
  ]);
  const tasks = JSON.parse(body as string) as Task[];
  const { members: everyone } = around;
  const shown = filterData(filters, me, around, projectBar('created_at', false));
  const data = {
    ...(await loadTaskList(ctx, me, { tasks, members: new Map([[around.project.team_id, everyone]]), here })),
    ...around,
    ...shown,
    saves: around.canWrite && (shown.isFiltered || filters.group) ? '/projects/save-view' : undefined,
    saveQuery: toQuery(filters),
    isManual: filters.sort === MANUAL_ORDER && filters.group === undefined,
    group: await loadGroupHeads(ctx, me, {
      by: source.group_by,
      groups,
      stages: around.stages,
      rows: tasks as unknown as Record<string, unknown>[],
      people: around.names,
    }),
    tasks,
    estimates,
    previous: offset > 0 ? toQuery(filters, { offset: Math.max(0, offset - ROWS) || undefined }) : undefined,
    next: more ? toQuery(filters, { offset: offset + count }) : undefined,
    base: projectPath(projectId),
    query: toQuery(filters),
    problem,
    given,
    viewProblem,
    viewGiven,
  };
  return {
    view: 'projects/project',
    title: around.project.name,
    data,
    teamId: around.project.team_id,
    scripts: ['work.js', 'mention.js'],
  };
}

export const projectPages: Page[] = [
  page({
    method: 'get',
    path: '/app/projects/:project_id',
    access: 'project.read',
    params: ProjectParams,
    query: ListQuery,
    handle: ({ ctx, me, params, query }) => showProject(ctx, requireUser({ me }), params.project_id, query),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/tasks',
    access: 'task.write',
    params: ProjectParams,
    query: ListQuery,
    form: z.object({ text: Text.max(MAX_LINE), back: z.string().max(2_000).optional() }),
    async handle({ ctx, me, params, query, form }) {
      const { team_id } = JSON.parse(await getProject(ctx, params.project_id)) as ProjectRecord;
      const { notice } = await quickAdd(ctx, requireUser({ me }), form.text, { team_id, ...params });
      const { offset: _first, ...filters } = query;
      const to = backPath(form.back, `${projectPath(params.project_id)}${toQuery(filters)}`);
      return { to, notice };
    },
    onError: ({ ctx, me, params, query, form }, problem) =>
      showProject(ctx, requireUser({ me }), params.project_id, query, { problem, given: form }),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/views',
    access: 'saved_view.write',
    params: ProjectParams,
    query: withFields(TaskFilters),
    form: z.object({ name: CreateSavedView.shape.name, is_shared: z.string().optional(), layout: z.enum(LAYOUTS).optional() }),
    async handle({ ctx, params, query, form }) {
      const project = JSON.parse(await getProject(ctx, params.project_id)) as ProjectRecord;
      const { view_id } = await createView(ctx, {
        name: form.name,
        is_shared: form.is_shared !== undefined,
        layout: form.layout,
        entity_type: 'task',
        team_id: project.team_id,
        filters: toViewFilters(inProject(project.project_id, query)),
        sort: toSort(query),
        group_by: query.group ?? null,
      });
      return { to: `/app/views/${view_id}`, notice: { kind: 'good', text: 'View saved' } };
    },
    onError: ({ ctx, me, params, query, form }, viewProblem) =>
      showProject(ctx, requireUser({ me }), params.project_id, { ...query, offset: 0 }, { viewProblem, viewGiven: form }),
  }),
];
