import { z } from 'zod';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { createCycle } from '../../../work/cycles/create-cycle.js';
import { listCycles } from '../../../work/cycles/list-cycles.js';
import { Id } from '../../../platform/fields.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { chooseTeam } from '../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { CycleForm, cyclePath, orNull, withSchedule } from './form.js';

/** Cycles and projects of one team that the page shows. */
const MAX_SHOWN = 500;

/** A filter that holds nonsense does not count. */
const Filter = z.object({ team: z.uuid().optional().catch(undefined) });

async function loadProjects(ctx: Context, team_id: string): Promise<{ project_id: string; name: string }[]> {
  const texts = await listProjects(ctx, { team_id, limit: MAX_SHOWN, offset: 0 });
  return texts.map((text) => JSON.parse(text) as { project_id: string; name: string });
}

async function showCycles(
  ctx: Context,
  me: Reader,
  wanted?: string,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const team = chooseTeam(me, wanted);
  const [cycles, projects] = team
    ? await Promise.all([
        listCycles(ctx, { team_id: team.team_id, limit: MAX_SHOWN, offset: 0 }),
        loadProjects(ctx, team.team_id),
      ])
    : [[], []];
  const groups = (['active', 'planned', 'completed'] as const).map((status) => ({
    status,
    cycles: cycles.filter((cycle) => cycle.status === status),
  }));
  // The newest result first.
  groups[2]?.cycles.reverse();
  const { problem, given } = refused;
  const data = {
    team,
    teams: me.teams,
    groups: groups.filter((group) => group.cycles.length > 0),
    projects,
    projectNames: Object.fromEntries(projects.map(({ project_id, name }) => [project_id, name])),
    canWrite: team !== undefined && isAllowed('cycle.write', team.role as Seat),
    problem,
    given: given ?? {},
  };
  return { view: 'cycles/list', title: 'Cycles', data, teamId: team?.team_id, ...(problem && { status: problem.status }) };
}

export const cycleListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/cycles',
    access: 'cycle.list',
    query: Filter,
    handle: ({ ctx, me, query }) => showCycles(ctx, requireUser({ me }), query.team),
  }),
  page({
    method: 'post',
    path: '/app/cycles',
    access: 'cycle.write',
    form: CycleForm.extend({ team_id: Id, project_id: orNull(Id.nullable()) }),
    async handle({ ctx, form }) {
      const { cycle_id } = await createCycle(ctx, withSchedule(form));
      return { to: cyclePath(cycle_id), notice: { kind: 'good', text: 'The cycle is planned. Add tasks to it.' } };
    },
    onError: ({ ctx, me, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : undefined;
      return showCycles(ctx, requireUser({ me }), team, { problem, given: form });
    },
  }),
];
