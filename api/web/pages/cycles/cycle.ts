import { z } from 'zod';
import { TaskId } from '../../../platform/fields.js';
import type { Context } from '../../../platform/context.js';
import { completeCycle } from '../../../work/cycles/completion/complete-cycle.js';
import { getReport } from '../../../work/cycles/completion/get-report.js';
import { findVelocity } from '../../../work/cycles/find-velocity.js';
import { deleteCycle } from '../../../work/cycles/delete-cycle.js';
import { listCycles } from '../../../work/cycles/list-cycles.js';
import { isSamePlace } from '../../../work/cycles/rules.js';
import { AddTasks, CompleteCycle, CycleParams } from '../../../work/cycles/schema.js';
import { startCycle } from '../../../work/cycles/start-cycle.js';
import { addTasksToCycle } from '../../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../../work/cycles/tasks/remove-task.js';
import { readCyclePage } from '../../../work/cycles/tasks/tasks-of-page.js';
import { updateCycle } from '../../../work/cycles/update-cycle.js';
import { sumEstimates } from '../../../work/tasks/read/sum-estimates.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { getProject } from '../../../work/projects/get-project.js';
import { type FormError, page, type Page, type PageRequest, type PageResult, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { velocityText } from '../../wording/estimate-text.js';
import { membersIn, namesOf } from '../../wording/names.js';
import { backPath } from '../projects/paths.js';
import { backlogPeople, BacklogQuery, loadBacklog } from './backlog.js';
import { burnDown, hasPoints } from './burn-down.js';
import { loadTaskList } from '../projects/task-list.js';
import { Box, CycleForm, cyclePath, withSchedule } from './form.js';

const CycleQuery = BacklogQuery.extend({ burn: z.enum(['tasks', 'points']).catch('tasks') });
type CycleQuery = z.output<typeof CycleQuery>;
const NO_FILTER = CycleQuery.parse({});

type Params = z.output<typeof CycleParams>;

async function showCycle(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  cycleId: string,
  query: CycleQuery = NO_FILTER,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const user = requireUser({ me });
  const [shown, report] = await Promise.all([readCyclePage(ctx, cycleId), getReport(ctx, cycleId)]);
  const { cycle } = shown;
  const { burn, ...filter } = query;
  const [targets, backlog, members, project, planned, velocity] = await Promise.all([
    loadTargets(ctx, shown),
    shown.canWrite && cycle.status !== 'completed' ? loadBacklog(ctx, cycle, filter, cyclePath(cycleId)) : undefined,
    membersIn(ctx, user, [cycle]),
    cycle.project_id ? getProject(ctx, cycle.project_id) : null,
    cycle.status === 'planned' ? sumEstimates(ctx, { cycle_id: cycleId }) : undefined,
    cycle.status === 'completed' ? [] : findVelocity(ctx, cycle),
  ]);
  const unit = burn === 'points' && hasPoints(report) ? 'points' : 'tasks';
  const { problem, given } = refused;
  const data = {
    ...(await loadTaskList(ctx, user, { tasks: shown.tasks, members, here: cyclePath(cycleId), isAcross: true })),
    ...shown,
    backlog,
    people: backlogPeople(user, members.get(cycle.team_id) ?? []),
    stages: await findStages(ctx, [cycle.team_id]),
    report,
    estimate: report.estimate ?? planned,
    velocity: velocityText(velocity),
    chart: burnDown(report, unit),
    unit,
    hasPoints: hasPoints(report),
    targets,
    names: namesOf(user, members),
    projectName: project === null ? undefined : (JSON.parse(project) as { name: string }).name,
    teamName: user.teams.find(({ team_id }) => team_id === cycle.team_id)?.name ?? 'Team',
    base: cyclePath(cycleId),
    problem,
    given: given ?? {},
  };
  return {
    view: 'cycles/cycle',
    title: cycle.name,
    data,
    teamId: cycle.team_id,
    scripts: ['work.js'],
    ...(problem && { status: problem.status }),
  };
}

/** Cycles that may get the open tasks of an active one. */
async function loadTargets(ctx: Context, { cycle, canWrite }: Awaited<ReturnType<typeof readCyclePage>>) {
  if (!canWrite || cycle.status !== 'active') return [];
  const planned = await listCycles(ctx, { team_id: cycle.team_id, status: 'planned', limit: 500, offset: 0 });
  return planned.filter((each) => isSamePlace(each, cycle)).map(({ cycle_id, name }) => ({ cycle_id, name }));
}

/** A button on the page of a cycle: an operation, and the line that it leaves. */
function button<Form extends z.ZodType>(
  name: string,
  form: Form,
  act: (visit: PageRequest<Params, unknown, z.output<Form>>) => Promise<PageResult | string>,
): Page {
  return page({
    method: 'post',
    path: `/app/cycles/:cycle_id/${name}`,
    access: 'cycle.write',
    params: CycleParams,
    form,
    async handle(visit) {
      const result = await act(visit);
      if (typeof result !== 'string') return result;
      return { to: cyclePath(visit.params.cycle_id), notice: { kind: 'good', text: result } };
    },
    onError: ({ params, form }, { message }) =>
      Promise.resolve({ to: backPath(form['back'], cyclePath(params.cycle_id)), notice: { kind: 'bad', text: message } }),
  });
}

const Nothing = z.object({});
/** Check boxes: one is sent as a string, several as a list, none as nothing. */
const Chosen = z.object({
  task_ids: z.preprocess((value) => (value === undefined ? [] : [value].flat()), AddTasks.shape.task_ids),
  back: z.string().max(2_000).optional(),
});

const CompleteForm = CompleteCycle.extend({ include_parents: Box });

const counted = (count: number): string => `${count} open ${count === 1 ? 'task' : 'tasks'}`;

export const cyclePages: Page[] = [
  page({
    method: 'get',
    path: '/app/cycles/:cycle_id',
    access: 'cycle.read',
    params: CycleParams,
    query: CycleQuery,
    handle: (visit) => showCycle(visit, visit.params.cycle_id, visit.query),
  }),
  page({
    method: 'post',
    path: '/app/cycles/:cycle_id',
    access: 'cycle.write',
    params: CycleParams,
    form: CycleForm,
    async handle({ ctx, params, form }) {
      await updateCycle(ctx, params.cycle_id, withSchedule(form));
      return { to: cyclePath(params.cycle_id), notice: { kind: 'good', text: 'Saved.' } };
    },
    onError: (visit, problem) => showCycle(visit, visit.params.cycle_id, NO_FILTER, { problem, given: visit.form }),
  }),
  button('start', Nothing, async ({ ctx, params }) => {
    await startCycle(ctx, params.cycle_id);
    return 'The cycle has started.';
  }),
  button('complete', CompleteForm, async ({ ctx, params, form }) => {
    const { snapshot } = await completeCycle(ctx, params.cycle_id, form);
    const parents = form.include_parents ? ', and those with subtasks too' : '';
    return `The cycle is completed. ${counted(snapshot?.carried_over ?? 0)} moved on${parents}.`;
  }),
  button('tasks', Chosen, async ({ ctx, params, form }) => {
    await addTasksToCycle(ctx, params.cycle_id, form.task_ids);
    const text = form.task_ids.length === 1 ? 'The task is in the cycle.' : `${form.task_ids.length} tasks are in the cycle.`;
    return { to: backPath(form.back, cyclePath(params.cycle_id)), notice: { kind: 'good', text } };
  }),
  button('remove', z.object({ task_id: TaskId }), async ({ ctx, params, form }) => {
    await removeTaskFromCycle(ctx, params.cycle_id, form.task_id);
    return 'The task is in the backlog.';
  }),
  button('delete', Nothing, async ({ ctx, params }) => {
    await deleteCycle(ctx, params.cycle_id);
    return { to: '/app/cycles', notice: { kind: 'good', text: 'The cycle was deleted. Its tasks are in the backlog.' } };
  }),
];
